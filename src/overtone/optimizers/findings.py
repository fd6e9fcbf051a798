"""What is known of every configuration, one row each: its values, as samples for a fit, and how noisy they are."""

import math
from dataclasses import dataclass, field

import numpy as np

from overtone.optimizers.trial import Trial, Value
from overtone.space import Point
from overtone.spectral.monomials import FloatArray

CEILING = 0.9  # quantile of the values at which the bad tail is clipped, failures with it; or before,
FIRST = 20  # where many are penalties like 1e9: of so many values, or the first fifth, which are uniform samples,
BEYOND = 16.0  # the lowest quarter, and so many times what it spans
MOST = 600  # samples that a fit looks at: the best half of them, and the latest
FEWEST = 4
FLAT = 1e-50  # a spread of values that is none
QUIET = 1e-3  # noise, as a share of the spread of the values, that is none


@dataclass(eq=False)
class Row:
    """One configuration: its point, the trial that asked for it first, and what came back of it, repeated or not."""

    point: Point
    trial: Trial | None  # None: it was known before
    values: list[float] = field(default_factory=list)
    mean: float = math.inf  # of the values; infinite if every trial failed
    n_out: int = 0  # trials of which nothing is known yet

    def __post_init__(self) -> None:
        self.codes: FloatArray = np.array(self.point)  # (n,), made once: every fit needs them

    def add(self, value: float) -> None:
        """One more; in which order does not matter."""
        self.values.append(value)
        self.mean = math.fsum(each / len(self.values) for each in self.values)


class Findings:
    """The rows, in the order in which their configurations were first asked for."""

    def __init__(self) -> None:
        self.rows: dict[object, Row] = {}
        self._keys: list[object] = []  # of the trials, by number
        self._repeated: list[Row] = []
        self._noise: float | None = None
        self.low, self.high = 0.0, 1.0  # of the last samples

    def out(self, key: object, trial: Trial) -> None:
        """A trial of the configuration that has this key."""
        self._keys.append(key)
        row = self.rows.setdefault(key, Row(trial.point, trial))
        row.trial = row.trial or trial
        row.n_out += 1

    def back(self, trial: Trial, value: Value) -> None:
        """What came of it."""
        row = self.rows[self._keys[trial.number]]
        row.n_out -= 1
        if value is not None:
            row.add(value)
            if len(row.values) == 2:
                self._repeated.append(row)
            if len(row.values) > 1:
                self._noise = None

    def before(self, key: object, point: Point, value: Value) -> None:
        """What was known before the first trial."""
        row = self.rows.setdefault(key, Row(point, None))
        if value is not None:
            row.add(value)

    def known(self) -> list[Row]:
        """The rows that have a value."""
        return [row for row in self.rows.values() if row.values]

    def pending(self) -> list[Row]:
        """The rows of which nothing is known but that they are out."""
        return [row for row in self.rows.values() if row.n_out and not row.values]

    def sampled(self) -> tuple[list[Row], FloatArray] | None:
        """The rows of a fit, and their values: 0 the best, 1 the ceiling, where failures are, too; not what is out.

        None: there are too few values, or they are all the same.
        """
        known = np.array([row.mean for row in self.known()])
        if len(known) < FEWEST or np.ptp(known) <= FLAT:
            return None
        self.low, self.high = float(known.min()), _ceiling(known)
        rows = self._some([row for row in self.rows.values() if row.values or not row.n_out])
        return rows, self.scaled(np.array([row.mean for row in rows]))

    def scaled(self, values: FloatArray) -> FloatArray:
        """As a fit sees them."""
        return (np.minimum(values, self.high) - self.low) / (self.high - self.low)

    def _some(self, rows: list[Row]) -> list[Row]:
        """At most MOST of them."""
        if len(rows) <= MOST:
            return rows
        best = set(np.argsort([row.mean for row in rows], kind="stable")[: MOST // 2].tolist())
        late = [i for i in range(len(rows)) if i not in best][-MOST // 2 :]
        return [rows[i] for i in sorted([*best, *late])]

    @property
    def n_repeats(self) -> int:
        """Values that came back of configurations that had one already."""
        return sum(len(row.values) - 1 for row in self._repeated)

    @property
    def noise(self) -> float | None:
        """The standard deviation of repeated values, pooled; None if nothing came back twice."""
        if self._noise is None and self._repeated:
            squares = math.fsum((value - row.mean) ** 2 for row in self._repeated for value in row.values)
            self._noise = math.sqrt(squares / self.n_repeats)
        return self._noise

    @property
    def is_noisy(self) -> bool:
        """Values of a configuration differ by more than rounding."""
        return bool(self.noise) and self.noise > QUIET * (self.high - self.low)  # type: ignore[operator]

    @property
    def noise_variance(self) -> float:
        """Of one value, as a fit sees it."""
        return (self.noise / (self.high - self.low)) ** 2 if self.is_noisy and self.noise else 0.0


def points_of(rows: list[Row]) -> FloatArray:
    """(N, n)"""
    return np.concatenate([row.codes for row in rows]).reshape(len(rows), -1)


def _ceiling(values: FloatArray) -> float:
    """Where values are clipped, and where failures are; the values in the order in which they were asked for."""
    low, high = values.min(), values.max()
    lowest, quarter = np.quantile(values[: max(FIRST, len(values) // 5)], [0, 0.25])
    fences = [float(np.quantile(values, CEILING)), float(quarter + BEYOND * (quarter - lowest))]
    return min([float(high), *(fence for fence in fences if fence - low > FLAT)])
