"""`make demo`: recover a hidden polynomial of 60 variables from 300 samples, and print it beside the truth."""

import time

import numpy as np

from overtone.spectral import Feature, Polynomial, minimizers, recover

N, SAMPLES, NOISE, SEED = 60, 300, 0.5, 2017
# The features and weights of the paper's table "Important features", stage 1, over the column numbers it gives.
HIDDEN = Polynomial(
    {
        (): 60.16,
        (24,): 8.05,
        (19,): 3.47,
        (4, 5): 3.12,
        (19, 24): -2.55,
        (4,): -2.34,
        (28,): -1.90,
        (24, 28): 1.79,
        (34, 35, 52): 1.54,
    },
    N,
)


def main() -> None:
    """Sample, recover, compare, minimize."""
    rng = np.random.default_rng(SEED)
    points = rng.choice([-1.0, 1.0], size=(SAMPLES, N))
    values = HIDDEN(points) + NOISE * rng.standard_normal(SAMPLES)
    start = time.perf_counter()
    found = recover(points, values)
    seconds = time.perf_counter() - start

    print(f"{SAMPLES} random samples of a function of {N} on/off variables, noise {NOISE:g};")
    print("36,050 monomials of degree up to 3 might matter. Which do, and how much?\n")
    print(f"{'monomial':16}{'hidden':>10}{'recovered':>12}{'stability':>12}{'evidence':>12}")
    features = {feature.monomial: feature for feature in found.features}
    for monomial in dict.fromkeys([m for m, _ in HIDDEN] + list(features)):
        print(_row(monomial, HIDDEN.terms.get(monomial), features))
    print(f"\n{found.verdict}: {found.reason}")
    print(f"noise {found.noise:.2f}, degree {found.degree}, {seconds:.2f} s, all settings automatic")
    best = minimizers(found.polynomial, 1)
    settings = ", ".join(f"x{column}={sign:+d}" for column, sign in best.assignments[0].items())
    print(f"\nThe best setting of the columns that matter, {'proven' if best.proven else 'not proven'}: {settings}")
    truth = minimizers(HIDDEN, 1).values[0]
    print(f"predicted value {best.values[0]:.2f}; the hidden function's minimum is {truth:.2f}")


def _row(monomial: tuple[int, ...], hidden: float | None, features: dict[tuple[int, ...], Feature]) -> str:
    feature = features.get(monomial)
    name = "*".join(f"x{column}" for column in monomial)
    left = f"{name:16}{'-' if hidden is None else format(hidden, '.2f'):>10}"
    if feature is None:
        return f"{left}{'missed':>12}"
    return f"{left}{feature.coefficient:12.2f}{feature.stability:12.0%}{feature.evidence:>7.0f} nats"


if __name__ == "__main__":
    main()
