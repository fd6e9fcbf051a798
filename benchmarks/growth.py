"""How time and memory of the certified Lasso grow with the columns n and the samples T."""

from math import comb
from typing import Any

from benchmarks.measure import measure, save, table
from benchmarks.scale import lasso

COLUMNS, SAMPLES, DEGREE = (50, 100, 200, 500, 1000), (100, 300, 1000), 3


def main() -> None:
    rows: list[dict[str, Any]] = []
    for n in COLUMNS:
        for T in SAMPLES:
            m = measure(lasso, n, DEGREE, T, repeats=3 if n <= 200 else 1)
            rows.append({"n": n, "T": T, "s": m.seconds, "mb": m.peak_mb, **m.answer})
    save("growth", rows)
    print(f"\nGrowth of the certified Lasso, degree {DEGREE}: seconds / MB (scans)")
    cells = {(r["n"], r["T"]): f"{r['s']:.3g} s / {r['mb']:.0f} MB ({r['scans']})" for r in rows}
    header = ["n", "monomials", *(f"T={T}" for T in SAMPLES)]
    counts = {n: f"{sum(comb(n, k) for k in range(1, DEGREE + 1)):,}" for n in COLUMNS}
    print(table(header, [[n, counts[n], *(cells[n, T] for T in SAMPLES)] for n in COLUMNS]))
