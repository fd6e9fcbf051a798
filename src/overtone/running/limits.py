"""`Limits`: when a run ends, if the optimizer is not done before."""

import math
from dataclasses import dataclass

from overtone.errors import InputError
from overtone.optimizers.trial import check_whole


@dataclass(frozen=True)
class Limits:
    """Whatever comes first.

    n_evaluations: trials in all, with those of a ledger. seconds: of this run, without those of earlier ones.
    target: a value that is good enough.
    """

    n_evaluations: int | None = None
    seconds: float | None = None
    target: float | None = None

    def __post_init__(self) -> None:
        if self.n_evaluations is not None:
            check_whole("n_evaluations", self.n_evaluations)
        if self.seconds is not None and not (_is_number(self.seconds) and self.seconds > 0):
            raise InputError(f"`seconds` must be a number > 0, or None for no limit, but got {self.seconds!r}")
        if self.target is not None and not (_is_number(self.target) and math.isfinite(self.target)):
            raise InputError(f"`target` must be a finite number, or None for no target, but got {self.target!r}")

    def seconds_left(self, elapsed: float) -> float:
        """Until the time is up."""
        return math.inf if self.seconds is None else self.seconds - elapsed

    def estimate(self, elapsed: float, n_new: int, n_done: int) -> float | None:
        """Seconds until a limit is reached, if it goes on like this; None: nobody knows.

        n_new: trials that came back in the time elapsed; n_done: with those of earlier runs.
        """
        pace = elapsed / n_new if n_new else math.inf
        at_pace = math.inf if self.n_evaluations is None else pace * max(0, self.n_evaluations - n_done)
        left = min(self.seconds_left(elapsed), math.inf if math.isnan(at_pace) else at_pace)
        return left if left < math.inf else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
