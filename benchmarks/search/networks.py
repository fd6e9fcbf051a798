"""Small neural networks for handwritten digits: one with budgets, noise and dummies, and that of the demo."""

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.search.problem import Problem, Value, key
from overtone.settings.settings import load_settings
from overtone.space import Config, Space, boolean, choice, ordinal

DEMO = Path(__file__).parents[2] / "examples" / "digits"
Array = np.ndarray[Any, np.dtype[np.float32]]
EPOCHS = 9.0
JUDGES = 4  # trainings, with other random numbers than an optimizer sees, of which the mean is the true value
N_DUMMIES = 14


def network() -> Problem:
    """16 options and 14 dummies; budgets are epochs; each training has its own random numbers: real noise."""
    space = Space(
        {
            "width": ordinal([8, 16, 24, 32]),
            "activation": choice(["relu", "tanh", "logistic"]),
            "rate": ordinal([0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]),
            "schedule": choice(["constant", "linear", "cosine"]),
            "momentum": ordinal([0.0, 0.5, 0.8, 0.95]),
            "nesterov": boolean(),
            "batch_size": ordinal([20, 40, 80, 100]),
            "initial_scale": ordinal([0.1, 0.5, 1.0, 2.0]),
            "decay": ordinal([0.0, 1e-4, 1e-3, 1e-2]),
            "dropout": boolean(),
            "standardize": boolean(),
            "shuffle": boolean(),
            "invert": boolean(),
            "smooth_labels": boolean(),
            "clip": boolean(),
            "positive_biases": boolean(),
            **{f"dummy_{i:02}": boolean() for i in range(N_DUMMIES)},
        }
    )
    return Problem(
        "network with dummies, % error", space, _judged, 200,
        is_real=True, measure=_error, full_budget=EPOCHS, is_slow=True,
    )  # fmt: skip


def _judged(config: Config) -> Value:
    return float(np.mean([_error(config, EPOCHS, -1 - i) for i in range(JUDGES)]))


@cache
def _digits() -> tuple[Array, Array, Array, Array]:
    """(200, 64), (200, 10), (600, 64), (600, 10)"""
    X, y = load_digits(return_X_y=True)
    X, Y = (X / 16).astype(np.float32), np.eye(10, dtype=np.float32)[y]
    return X[:200], Y[:200], X[200:800], Y[200:800]


def _error(config: Config, budget: float | None, draw: int) -> float:
    """Percent of 600 other digits that are taken for another one."""
    rng = np.random.default_rng([abs(draw), int(draw < 0), int(key(config)[:8], 16)])
    X, Y, X_test, Y_test = _digits()
    X, X_test = (1 - X, 1 - X_test) if config["invert"] else (X, X_test)
    if config["standardize"]:
        mean, spread = X.mean(axis=0), X.std(axis=0) + 0.1
        X, X_test = (X - mean) / spread, (X_test - mean) / spread
    Y = 0.9 * Y + 0.01 if config["smooth_labels"] else Y
    with np.errstate(all="ignore"):  # a training that diverges is as good as a guess
        weights = _trained(X, Y, config, round(budget or EPOCHS), rng)
        scores = np.nan_to_num(_forward(X_test, weights, config)[1])
    return 100 * float((scores.argmax(axis=1) != Y_test.argmax(axis=1)).mean())


def _trained(X: Array, Y: Array, config: Config, epochs: int, rng: np.random.Generator) -> list[Array]:
    """Stochastic gradient descent; the last row of a matrix is the bias."""
    c: dict[str, Any] = dict(config)
    weights = [_initial(64, c["width"], c, rng), _initial(c["width"], 10, c, rng)]
    speeds = [np.zeros_like(W) for W in weights]
    size, steps = c["batch_size"], epochs * (len(X) // c["batch_size"])
    order = np.arange(len(X))
    for step in range(steps):
        if c["shuffle"] and step * size % len(X) < size:
            order = rng.permutation(len(X))
        rows = order[np.arange(step * size, (step + 1) * size) % len(X)]
        rate = c["rate"] * _falls(c["schedule"], step / steps)
        for i, slope in enumerate(_slopes(X[rows], Y[rows], weights, c, rng)):
            speeds[i] = c["momentum"] * speeds[i] + slope
            weights[i] = weights[i] - rate * (slope + c["momentum"] * speeds[i] if c["nesterov"] else speeds[i])
    return weights


def _initial(a: int, b: int, c: dict[str, Any], rng: np.random.Generator) -> Array:
    W = rng.normal(0, c["initial_scale"] / np.sqrt(a), (a + 1, b)).astype(np.float32)
    W[-1] = 0.1 if c["positive_biases"] else 0
    return W


def _falls(schedule: str, share: float) -> float:
    return {"constant": 1.0, "linear": 1 - share, "cosine": 0.5 + float(np.cos(np.pi * share)) / 2}[schedule]


def _forward(X: Array, weights: list[Array], config: Config) -> tuple[Array, Array]:
    """The hidden layer and the scores.  # (T, width), (T, 10)"""
    z = X @ weights[0][:-1] + weights[0][-1]
    functions = {"relu": lambda: np.maximum(z, 0), "tanh": lambda: np.tanh(z), "logistic": lambda: 1 / (1 + np.exp(-z))}
    hidden = functions[str(config["activation"])]()
    return hidden, hidden @ weights[1][:-1] + weights[1][-1]


def _slopes(X: Array, Y: Array, weights: list[Array], c: dict[str, Any], rng: np.random.Generator) -> list[Array]:
    hidden, scores = _forward(X, weights, c)
    if c["dropout"]:
        hidden = hidden * (rng.random(hidden.shape) > 0.25)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    back = (shares / shares.sum(axis=1, keepdims=True) - Y) / len(X)
    inner = {"relu": hidden > 0, "tanh": 1 - hidden**2, "logistic": hidden * (1 - hidden)}[c["activation"]]
    below = back @ weights[1][:-1].T * inner
    slopes = [
        np.vstack([x.T @ d, d.sum(axis=0)]) + c["decay"] * W
        for x, d, W in zip((X, hidden), (below, back), weights, strict=True)
    ]
    return [np.clip(slope, -0.1, 0.1) for slope in slopes] if c["clip"] else slopes


def demo_network() -> Problem:
    """The network of the demo: 39 options, 20 dummies; error in percent."""
    space = load_settings(DEMO / "tune.toml").space
    return Problem("demo network, % error", space, _demo_error, 100, is_real=True, is_slow=True)


def _demo_error(config: Config) -> float:
    if str(DEMO) not in sys.path:
        sys.path.append(str(DEMO))
    from network import error  # type: ignore[import-not-found]

    return float(error(config))
