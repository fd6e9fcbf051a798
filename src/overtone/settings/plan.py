"""What a run is going to do, as far as it is known before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from overtone.optimizers.automatic import Automatic
from overtone.optimizers.halving import Hyperband, SuccessiveHalving
from overtone.optimizers.harmonica import Harmonica
from overtone.optimizers.local_search import LocalSearch
from overtone.optimizers.random_search import RandomSearch
from overtone.optimizers.spectral_descent import SpectralDescent
from overtone.optimizers.trial import Optimizer
from overtone.space import Space
from overtone.tuning import automatic_recipe


@dataclass(frozen=True)
class Part:
    """Evaluations that can run at the same time; the next part waits for all of them."""

    name: str
    n: int


@dataclass(frozen=True)
class Plan:
    """The parts in their order: at most so many evaluations, because a stage may find that it is enough."""

    parts: tuple[Part, ...]

    @property
    def n_evaluations(self) -> int:
        """At most."""
        return sum(part.n for part in self.parts)

    def n_rounds(self, n_workers: int) -> int:
        """How often all workers get a trial, at most."""
        return sum(ceil(part.n / n_workers) for part in self.parts)

    def limited(self, n_evaluations: float) -> "Plan":
        """The plan up to a number of evaluations."""
        parts = []
        for part in self.parts:
            n = int(min(part.n, n_evaluations))
            n_evaluations -= n
            parts += [replace(part, n=n)] if n else []
        return Plan(tuple(parts))


def automatic_plan(space: Space, n_evaluations: int | None) -> Plan:
    """The plan of `minimize`, if nobody chooses an optimizer."""
    n = automatic_recipe(space, n_evaluations)["n_evaluations"]
    return plan_of(Automatic(space, n_evaluations=n), space)


def plan_of(optimizer: Optimizer, space: Space) -> Plan:
    """The plan of an optimizer that has not begun."""
    return Plan(tuple(_parts(optimizer, space)))


def _parts(optimizer: Optimizer, space: Space) -> Sequence[Part]:
    most = space.n_points  # a sampler takes no configuration twice
    if isinstance(optimizer, Harmonica):
        stages = Plan(tuple(Part(f"stage {i + 1}", optimizer.n_samples) for i in range(optimizer.n_stages)))
        return [*stages.limited(most).parts, *_parts(optimizer.base(space, optimizer.seed), space)]
    if isinstance(optimizer, Hyperband | SuccessiveHalving):
        brackets = optimizer.schedule if isinstance(optimizer, Hyperband) else [optimizer.schedule]
        return [
            Part(f"bracket {i}, budget {rung.budget:g}", int(min(rung.n, most)))
            for i, rungs in enumerate(brackets)
            for rung in rungs
        ]
    if isinstance(optimizer, Automatic):
        left = optimizer.n_evaluations - optimizer.n_samples
        return Plan((Part("stage 1", optimizer.n_samples), Part("spectral descent", left))).limited(most).parts
    if isinstance(optimizer, SpectralDescent):
        return [Part("spectral descent", int(min(optimizer.n_evaluations, most)))]
    if isinstance(optimizer, RandomSearch | LocalSearch):
        name = "random search" if isinstance(optimizer, RandomSearch) else "local search"
        return [Part(name, int(min(optimizer.n_evaluations, most)))]
    return []
