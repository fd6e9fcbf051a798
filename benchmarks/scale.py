"""What one machine can do: a thousand columns, high degrees, and how close a scan comes to the machine's peak."""

import time
from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from benchmarks.measure import measure, save, table
from benchmarks.planted import planted

T, SPARSITY, NOISE = 300, 5, 0.1


def lasso(n: int, degree: int, T: int = T) -> Callable[[], dict[str, Any]]:
    from overtone.spectral import solve_lasso

    problem = planted(n, T, SPARSITY, NOISE, seed=0, degree=min(degree, 3))
    solve_lasso(problem.points[:20, :6], problem.values[:20], 2, 0.1)

    def run() -> dict[str, Any]:
        fit = solve_lasso(problem.points, problem.values, degree, 0.1)
        return {"gap": fit.gap, "scans": fit.n_scans, "monomials": len(fit.polynomial)}

    return run


def recovery(n: int) -> Callable[[], dict[str, Any]]:
    from overtone.spectral import recover

    problem = planted(n, T, SPARSITY, NOISE, seed=0)
    recover(problem.points[:40, :6], problem.values[:40])

    def run() -> dict[str, Any]:
        answer = recover(problem.points, problem.values)
        found = sum(monomial in answer.polynomial.terms for monomial in problem.truth)
        return {"found": found, "verdict": answer.verdict, "degree": answer.degree}

    return run


def scan(n: int) -> Callable[[], None]:
    """One full scan of all monomials of degree <= 3 for the strongest."""
    from overtone.spectral.columns import Columns
    from overtone.spectral.correlation import Dictionary

    problem = planted(n, T, SPARSITY, NOISE, seed=0)
    dictionary = Dictionary(Columns.parity(problem.points), 3)
    residual = problem.values - problem.values.mean()
    level = dictionary.noise_level(residual, 600)

    def run() -> None:
        dictionary.strongest(residual, level=level, limit=600)

    run()
    return run


def peak() -> float:
    """float32 operations a second of one large matrix product on all cores: the best of ten."""
    a = np.ones((2048, 2048), dtype=np.float32)
    best = 0.0
    for _ in range(10):
        start = time.perf_counter()
        a @ a
        best = max(best, 2 * 2048**3 / (time.perf_counter() - start))
    return best


def _peak_thunk() -> Callable[[], float]:
    return peak


def main() -> None:
    rows: list[dict[str, Any]] = []
    top = measure(_peak_thunk).answer
    one = measure(scan, 1000, repeats=5)
    share = 2 * T * comb(1000, 3) / one.seconds / top
    rows.append({"what": "one scan, n=1000, degree 3", "s": one.seconds, "mb": one.peak_mb,
                 "note": f"{share:.0%} of the float32 peak of {top / 1e9:.0f} Gflop/s"})  # fmt: skip
    for n, degree in ((1000, 3), (100, 4), (60, 5)):
        m = measure(lasso, n, degree)
        count = sum(comb(n, k) for k in range(1, degree + 1))
        rows.append({"what": f"certified Lasso, n={n}, degree {degree}: {count:,} monomials", "s": m.seconds,
                     "mb": m.peak_mb, "note": f"{m.answer['scans']} scans, gap {m.answer['gap']:.0e}"})  # fmt: skip
    for n in (60, 200, 1000):
        m = measure(recovery, n, repeats=3 if n == 60 else 1)
        note = f"{m.answer['found']} of {SPARSITY} found, {m.answer['verdict']}, degree {m.answer['degree']}"
        rows.append({"what": f"recover(), all automatic, n={n}", "s": m.seconds, "mb": m.peak_mb, "note": note})
    save("scale", rows)
    print(f"\nScale, T={T}")
    print(table(["what", "seconds", "memory MB", ""],
                [[r["what"], f"{r['s']:.3g}", f"{r['mb']:.0f}", r["note"]] for r in rows]))  # fmt: skip
