"""Configurations that the user gives, such as today's default, before an optimizer starts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from overtone.errors import InputError
from overtone.optimizers.relay import Relay
from overtone.optimizers.stage import Stage
from overtone.optimizers.trial import Book, Optimizer, Trial, Value, check_whole, full_budget
from overtone.space import Config, Space
from overtone.space import Value as Level


class Given:
    """Each of some configurations once."""

    def __init__(self, space: Space, configs: Sequence[Mapping[str, Level]], *, budget: float | None = None) -> None:
        self.space, self.budget = space, budget
        self._waiting = [space.encode(checked_config(space, config)) for config in configs]
        self._book = Book()

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n of those that are left."""
        return list(islice(iter(self._next, None), check_whole("n", n)))

    def _next(self) -> Trial | None:
        if not self._waiting:
            return None
        point = self._waiting.pop(0)
        return self._book.out(self.space.decode(point), point, self.budget, "default")

    def tell(self, trial: Trial, value: Value) -> None:
        """Note a value."""
        self._book.back(trial, value)

    @property
    def done(self) -> bool:
        """Each was asked for and told."""
        return not self._waiting and not self._book.open

    def results(self) -> list[tuple[Trial, Value]]:
        """What was told, by number."""
        return self._book.results()


class GivenFirst(Relay):
    """Given configurations, then an optimizer; one that can `know` values from before is told what came of them."""

    def __init__(self, given: Given, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        super().__init__(self._sequence(given))

    def _sequence(self, given: Given) -> Iterator[Optimizer]:
        yield given
        if know := getattr(self.optimizer, "know", None):
            know((trial.point, value) for trial, value in given.results())
        yield self.optimizer

    @property
    def full_budget(self) -> float | None:
        """That of the optimizer."""
        return full_budget(self.optimizer)

    @property
    def stages(self) -> Sequence[Stage]:
        """Those of the optimizer, if it has any."""
        return getattr(self.optimizer, "stages", ())


def checked_config(space: Space, config: Mapping[str, Level]) -> Config:
    """The configuration as the space writes it: complete, allowed, and with nothing that is not active."""
    if not isinstance(config, Mapping):
        raise InputError(f"a default must be a dict of names and values, but got {config!r}")
    known = space.decode(space.encode(config))
    missing = [name for name in known if name not in config]
    if missing:
        raise InputError(
            f"a default must have a value for every parameter that is active, but {', '.join(missing[:10])} "
            f"{'is' if len(missing) == 1 else 'are'} missing"
        )
    if not space.allows(known):
        raise InputError(f"a default must be allowed, but `forbid` rules it out: {known}")
    return known
