"""The Lasso against its peers: same data, same penalty, same objective."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import Measured, measure, save, table
from benchmarks.planted import Problem, planted
from overtone.spectral.monomials import FloatArray

T, SPARSITY, NOISE, DEGREE, PENALTY = 300, 5, 0.1, 3, 0.1


def dense(points: FloatArray) -> FloatArray:
    from sklearn.preprocessing import PolynomialFeatures

    expand = PolynomialFeatures(DEGREE, interaction_only=True, include_bias=False)
    return np.asarray(expand.fit_transform(points))


def objective(y: FloatArray, prediction: FloatArray, coefficients: FloatArray) -> float:
    return float(((y - prediction) ** 2).sum() / (2 * len(y)) + PENALTY * np.abs(coefficients).sum())


def ours(n: int) -> Callable[[], float]:
    from overtone.spectral import solve_lasso

    problem = planted(n, T, SPARSITY, NOISE, seed=0)
    _warm_up(problem, solve_lasso)
    return lambda: solve_lasso(problem.points, problem.values, DEGREE, PENALTY).objective


def sklearn_with_expansion(n: int) -> Callable[[], float]:
    """What a user of scikit-learn does: expand the features, then fit."""
    from sklearn.linear_model import Lasso

    problem = planted(n, T, SPARSITY, NOISE, seed=0)

    def run() -> float:
        A = dense(problem.points)
        fit = Lasso(alpha=PENALTY, tol=1e-7, max_iter=10_000).fit(A, problem.values)
        return objective(problem.values, fit.predict(A), fit.coef_)

    return run


def celer_on_ready_matrix(n: int) -> Callable[[], float]:
    """Celer, the fastest working-set solver; it gets the matrix ready-made, in the layout it likes best."""
    from celer import Lasso

    problem = planted(n, T, SPARSITY, NOISE, seed=0)
    A = np.asfortranarray(dense(problem.points))
    small = np.asfortranarray(A[:, :50])
    Lasso(alpha=PENALTY, tol=1e-7).fit(small, problem.values)  # compile first

    def run() -> float:
        fit = Lasso(alpha=PENALTY, tol=1e-7).fit(A, problem.values)
        return objective(problem.values, fit.predict(A), fit.coef_)

    return run


def _warm_up(problem: Problem, solve: Callable[..., Any]) -> None:
    solve(problem.points[:20, :5], problem.values[:20], 2, PENALTY)  # imports


def main() -> None:
    rows: list[dict[str, Any]] = []
    for n in (60, 100):
        mine = measure(ours, n, repeats=7)
        peers: dict[str, Measured] = {
            "scikit-learn: PolynomialFeatures + Lasso": measure(sklearn_with_expansion, n, repeats=3),
            "celer: Lasso, matrix given": measure(celer_on_ready_matrix, n, repeats=3),
        }
        for name, peer in peers.items():
            gap = abs(peer.answer - mine.answer) / mine.answer
            if gap > 1e-6:
                raise RuntimeError(f"{name}: the objectives differ by {gap:.1e}, so the times cannot be compared")
            rows.append({
                "n": n, "peer": name, "ours_s": mine.seconds, "peer_s": peer.seconds,
                "ratio": peer.seconds / mine.seconds, "ours_mb": mine.peak_mb, "peer_mb": peer.peak_mb,
                "objectives_differ_by": gap,
            })  # fmt: skip
    save("speed", rows)
    print(f"\nCertified Lasso, T={T}, degree {DEGREE}, {SPARSITY} planted features, penalty {PENALTY}")
    print(table(
        ["n", "peer", "ours ms", "peer ms", "times faster", "ours MB", "peer MB"],
        [[r["n"], r["peer"], f"{r['ours_s'] * 1e3:.1f}", f"{r['peer_s'] * 1e3:.0f}", f"{r['ratio']:.0f}",
          f"{r['ours_mb']:.0f}", f"{r['peer_mb']:.0f}"] for r in rows],
    ))  # fmt: skip
