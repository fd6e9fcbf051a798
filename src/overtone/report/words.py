"""Numbers, names and values as a reader wants them."""

import math
from collections.abc import Iterable
from typing import Any

from overtone.running.progress import duration as as_duration


def literal(text: str) -> str:
    """One line in which nothing is hidden: control and bidi characters, lone surrogates and newlines as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def lines(text: str) -> str:
    """The same for a text of several lines, such as a traceback."""
    return "\n".join(literal(line.expandtabs(4)) for line in text.splitlines())


def value(given: object) -> str:
    """A level as Python writes it, so that True, 'True' and 1 are told apart."""
    return f"{given:.6g}" if isinstance(given, float) else repr(given)


def cut(text: str, most: int) -> str:
    """The beginning and the end of a text that is too long."""
    if len(text) <= most:
        return text
    end = (most - 1) // 3
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def number(x: float | None, digits: int = 4) -> str:
    """Significant digits, no exponent where it can be helped, whole numbers in full; a dash if there is none."""
    if x is None:
        return "-"
    x = float(x)
    if x == 0:
        return "0"
    if x.is_integer() and abs(x) < 1e9:
        return f"{int(x):,}"
    if not 1e-4 <= abs(x) < 1e7:
        return f"{x:.{digits}g}"
    return f"{x:,.{max(0, digits - 1 - math.floor(math.log10(abs(x))))}f}"


def exact(x: float) -> str:
    """Six digits of a number that stands alone."""
    text = number(x, 6)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def percent(share: float | None) -> str:
    """A share in percent: never a bare 0 for what is there, nor a full 100 for what is not."""
    if share is None:
        return "-"
    if 0 < abs(share) < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 - 1e-9 else f"{share:.0%}"


def seconds(duration: float) -> str:
    """'0.2 s', '12 s', '3 min 20 s', '2 h 5 min', '3 d 4 h'."""
    return f"{duration:.2g} s" if duration < 10 else as_duration(round(duration))


def count(n: int, what: str) -> str:
    """'1 trial', '2,000 trials'."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def listing(items: Iterable[str], most: int = 5) -> str:
    """'a, b and c'; 'a, b and 7 more'."""
    found = list(items)
    if len(found) > most:
        found = [*found[:most], f"{len(found) - most} more"]
    return " and ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))


def clause(given: Any) -> str:
    """A combination in words: "a = True and b in [1, 2]"."""
    parts = []
    for name, wanted in given.items():
        several = isinstance(wanted, list | tuple)
        levels = f"in [{', '.join(map(value, wanted))}]" if several else f"= {value(wanted)}"
        parts.append(f"{name} {levels}")
    return " and ".join(parts)
