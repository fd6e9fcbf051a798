"""Which parameters matter, alone and together: Sobol indices of what the stages found."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from overtone.optimizers.features import Features
from overtone.optimizers.stage import Stage
from overtone.running.record import History
from overtone.space import Space


@dataclass(frozen=True)
class Importance:
    """How much of the variance that a stage explains hangs on one parameter."""

    stage: int
    parameter: str
    first: float  # alone
    total: float  # and with others


@dataclass(frozen=True)
class Pair:
    """Two parameters (or one with itself: what it does alone), in the stage in which they matter most."""

    one: str
    other: str
    share: float  # of the variance that the stage explains, by all sets of parameters in which both are
    stage: int

    @property
    def is_pair(self) -> bool:
        """They are two."""
        return self.one != self.other


def importance_of(history: History) -> tuple[Importance, ...]:
    """A row for every stage and parameter that it found to matter, most important first."""
    names, owner = _owners(history.space)
    return tuple(
        Importance(stage.number, names[row.group], row.first, row.total)
        for stage in history.stages
        for row in stage.polynomial.importance(owner)
    )


def _owners(space: Space) -> tuple[list[str], list[int]]:
    """The names of the parameters, and for every column the number of its parameter."""
    names = list(space.parameters)
    number = {name: i for i, name in enumerate(names)}
    return names, [number[space.units[unit].parameter] for unit in Features(space).groups.tolist()]


def pairs_of(history: History) -> tuple[Pair, ...]:
    """Every pair, and every parameter with itself, that some stage found, strongest first.

    Stages are about different parts of the space, so shares are not summed over them: the largest one counts. A stage
    that fixed nothing does not count beside one that did: what it found was not clear.
    """
    names, owner = _owners(history.space)
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for stage in [stage for stage in history.stages if stage.restricts] or history.stages:
        for pair, share in _shares(stage, owner).items():
            if share > best.get(pair, (0.0, 0))[0]:
                best[pair] = share, stage.number
    order = sorted(best, key=lambda pair: (-best[pair][0], pair))
    return tuple(Pair(names[a], names[b], *best[a, b]) for a, b in order)


def _shares(stage: Stage, owner: Sequence[int]) -> dict[tuple[int, int], float]:
    shares: dict[tuple[int, int], float] = {}
    for monomial, share in stage.polynomial.shares().items():
        members = sorted({owner[column] for column in monomial})
        for pair in combinations(members, 2) if len(members) > 1 else [(members[0], members[0])]:
            shares[pair] = shares.get(pair, 0.0) + share
    return shares
