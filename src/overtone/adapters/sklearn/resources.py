"""Resources of candidates, as in scikit-learn's halving: a share of the data, or a parameter of the estimator.

A budget of ours counts in `smallest` resources: budget 1 is the fewest that a candidate gets.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from sklearn.model_selection._search_successive_halving import _SubsampleMetaSplitter

from overtone.errors import InputError
from overtone.optimizers.halving import halving_schedule

DATA = "n_samples"  # the resource that is rows of the data
ROUNDING = 1e-6  # 9.999999 resources are 10


@dataclass(frozen=True)
class Resources:
    """How many there are, and of what."""

    name: str
    smallest: int
    largest: int

    def __post_init__(self) -> None:
        if self.smallest == 0:
            raise InputError("min_resources_=0: you might have passed an empty dataset X. Give it rows")
        if self.smallest > self.largest:
            raise InputError(
                f"min_resources_={self.smallest} is greater than max_resources_={self.largest}: give fewer "
                "min_resources, or more data"
            )

    def exhausted(self, n: int, factor: int) -> "Resources":
        """With the largest start from which n candidates, halved down to few, still end within what there is."""
        rungs = len(halving_schedule(n, 1.0, factor, inf))
        return replace(self, smallest=max(self.smallest, self.largest // factor ** (rungs - 1)))

    @property
    def max_budget(self) -> float:
        """All of them, as a budget."""
        return self.largest / self.smallest

    def number(self, budget: float | None) -> int:
        """How many a budget is; none at all means all."""
        n = self.largest if budget is None else int(budget * self.smallest + ROUNDING)
        if not 0 < n <= self.largest:
            raise InputError(
                f"a budget must be from 1 to {self.max_budget:g} (budget 1 is {self.smallest} resources, and there are "
                f"{self.largest}), but got {budget:g}: change the `max_budget` of the base"
            )
        return n

    def budget(self, n: int) -> float:
        """The budget that is n of them."""
        return n / self.smallest

    def splits(self, cv: Any, n: int, n_rows: int, seed: int) -> Any:
        """Folds with a share of their rows, nested: the same rows in every fit of n, all of them again in larger n."""
        if self.name != DATA or n == n_rows:
            return cv
        return _SubsampleMetaSplitter(base_cv=cv, fraction=n / n_rows, subsample_test=True, random_state=seed)


class Once:
    """A splitter that is asked once: all candidates of a search see the same folds, even if `cv` shuffles them anew."""

    def __init__(self, cv: Any) -> None:
        self._cv = cv
        self._splits: list[Any] | None = None

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[Any]:
        """The folds of the first time."""
        if self._splits is None:
            self._splits = list(self._cv.split(X, y, **params))
        return iter(self._splits)
