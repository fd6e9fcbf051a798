"""`python writer.py PLACE`: append to a ledger without end, and say after each append how many events there are."""

import sys
from contextlib import closing
from typing import Any

from overtone.running.ledger import open_ledger


def event(number: int) -> dict[str, Any]:
    """Events of all sizes: many to a page of SQLite, one to a page, several pages each."""
    size = 9000 if number % 10 == 3 else 2000 if number % 10 == 6 else 40
    return {"kind": "tell", "number": number, "value": number / 7, "detail": f"{number} " * (size // 4)}


def events(n: int) -> list[dict[str, Any]]:
    return [event(number) for number in range(n)]


def main(place: str) -> None:
    with closing(open_ledger(place)) as ledger:
        n = sum(1 for _ in ledger.read())
        sys.stdout.write(f"open {n}\n")
        while True:
            sys.stdout.flush()
            batch = 1 + n % 3
            ledger.append(*(event(n + i) for i in range(batch)))
            n += batch
            sys.stdout.write(f"{n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
