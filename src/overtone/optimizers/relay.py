"""Optimizers one after another, behind one ask and tell."""

from collections.abc import Iterator
from itertools import islice

from overtone.optimizers.trial import Book, Optimizer, Trial, Value, check_whole


class Relay:
    """Each optimizer is made when the one before it is done; trials are numbered through."""

    def __init__(self, legs: Iterator[Optimizer]) -> None:
        self._legs = legs
        self._book = Book()
        self._inner: list[Trial] = []  # each trial as its own optimizer knows it
        self.current = next(legs, None)
        self._last = self.current  # of which the last trial was

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n trials of the current optimizer, or of the next once that is done."""
        return list(islice(iter(self._next, None), check_whole("n", n)))

    def _next(self) -> Trial | None:
        while self.current is not None:
            for trial in self.current.ask(1):
                self._inner.append(trial)
                self._last = self.current
                return self._book.out(dict(trial.config), trial.point, trial.budget, trial.stage)
            if not self.current.done:
                return None
            self._hand_over()
        return None

    def tell(self, trial: Trial, value: Value) -> None:
        """Pass a value on; a trial that is out always belongs to the current optimizer."""
        value = self._book.back(trial, value)
        if self.current is not None:
            self.current.tell(self._inner[trial.number], value)
        self._hand_over()

    def _hand_over(self) -> None:
        while self.current is not None and self.current.done:
            self.current = next(self._legs, None)

    @property
    def judged(self) -> Trial | None:
        """The best trial as the last optimizer judges it, if single values are not to be trusted; else None."""
        inner: Trial | None = getattr(self._last, "judged", None)
        return next((trial for trial, own in zip(self._book.trials, self._inner, strict=True) if own is inner), None)

    @property
    def done(self) -> bool:
        """Every optimizer is done."""
        self._hand_over()
        return self.current is None
