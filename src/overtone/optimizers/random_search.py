"""Random search: uniform configurations, none twice."""

from itertools import islice

from overtone.optimizers.sampling import Sampler
from overtone.optimizers.trial import Book, Trial, Value, check_whole
from overtone.space import Space


class RandomSearch:
    """`n_evaluations` uniform configurations; ends early when the space is exhausted.

    stage: the number of a stage of Harmonica; each stage has its own random numbers. seen: what was drawn before.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        n_evaluations: int = 100,
        budget: float | None = None,
        stage: int = 0,
        seen: set[object] | None = None,
    ) -> None:
        self.space, self.n_evaluations, self.budget = space, check_whole("n_evaluations", n_evaluations), budget
        self._name = f"stage {stage}" if stage else "random search"
        self._sampler = Sampler(space, seed, stage, seen)
        self._book = Book()
        self._exhausted = False

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n new configurations."""
        return list(islice(iter(self._next, None), check_whole("n", n)))

    def _next(self) -> Trial | None:
        drawn = self._sampler.next() if self._more() else None
        if drawn is None:
            self._exhausted = True
            return None
        point, config = drawn
        return self._book.out(config, point, self.budget, self._name)

    def tell(self, trial: Trial, value: Value) -> None:
        """Note a value."""
        self._book.back(trial, value)

    def _more(self) -> bool:
        return not self._exhausted and len(self._book.trials) < self.n_evaluations

    @property
    def done(self) -> bool:
        """Every configuration was asked for and told."""
        return not self._more() and not self._book.open

    def results(self) -> list[tuple[Trial, Value]]:
        """What was told, by number."""
        return self._book.results()
