"""From the file's tables to an optimizer: which one, with which settings, and the budgets it will ask for."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from overtone.optimizers.halving import Hyperband, SuccessiveHalving
from overtone.optimizers.harmonica import Harmonica
from overtone.optimizers.local_search import LocalSearch
from overtone.optimizers.random_search import RandomSearch
from overtone.optimizers.spectral_descent import SpectralDescent
from overtone.optimizers.trial import Base
from overtone.settings.problems import Problems
from overtone.settings.tables import FileTable
from overtone.space import Space
from overtone.tuning import ENDLESS

BASES: Mapping[str, Any] = {
    "random_search": RandomSearch,
    "local_search": LocalSearch,
    "spectral_descent": SpectralDescent,
    "hyperband": Hyperband,
    "successive_halving": SuccessiveHalving,
}
_COUNTED = ("random_search", "local_search", "spectral_descent")
_HALVING = ("hyperband", "successive_halving")
FULL = 27.0  # the largest budget of the halving optimizers, if the file does not say


def build_optimizer(file: FileTable, problems: Problems) -> Base | None:
    """A factory (space, seed) -> optimizer; None: `minimize` chooses, because the file says nothing about it."""
    chosen = optimizer_name(file)
    used = {chosen, base_name(file)} if chosen == "harmonica" else {chosen}
    for name in ("harmonica", *BASES):
        if getattr(file, name) is not None and name not in used:
            problems.add((name,), f"it is not used: set `optimizer` or `harmonica.base` to {name!r}, or leave it out")
    if chosen == "automatic":
        return None
    if chosen != "harmonica":
        return _base(file, chosen)
    options = {key: value for key, value in _given(file, "harmonica").items() if key != "base"}
    return partial(Harmonica, base=_base(file, base_name(file)), **options)


def optimizer_name(file: FileTable) -> str:
    """What the file says; settings of the method, or of its base, without a word about the optimizer mean Harmonica."""
    given = file.harmonica is not None or file.local_search is not None
    return "harmonica" if file.optimizer == "automatic" and given else file.optimizer


def base_name(file: FileTable) -> str:
    """What comes after the stages."""
    return (file.harmonica.base if file.harmonica else None) or "local_search"


def _base(file: FileTable, name: str) -> Base:
    """If only the run has a number of evaluations, that ends it; it may be raised later, when the run goes on."""
    options = _given(file, name)
    if name in _COUNTED and file.run.evaluations is not None:
        # the rounds of spectral descent come from the number, so there it must be the real one
        n = file.run.evaluations if name == "spectral_descent" else ENDLESS
        options = {"n_evaluations": n, **options}
    return partial(BASES[name], **options)


def _given(file: FileTable, name: str) -> dict[str, Any]:
    table = getattr(file, name)
    return {} if table is None else table.model_dump(exclude_none=True)


def check_optimizer(file: FileTable, optimizer: Base, space: Space, problems: Problems) -> None:
    """Make it once, and its base: their own checks know best."""
    name = optimizer_name(file)
    with problems.under(name):
        optimizer(space, file.run.seed)
    if name == "harmonica":
        with problems.under(base_name(file)):
            _base(file, base_name(file))(space, file.run.seed)


def largest_budget(file: FileTable) -> float | None:
    """The budget of trials that have none: the full one, as far as the file says."""
    chosen = optimizer_name(file)
    name = base_name(file) if chosen == "harmonica" else chosen
    known = [getattr(getattr(file, each), "budget", None) for each in ("harmonica", *_COUNTED)]
    if name in _HALVING:
        known.append(_given(file, name).get("max_budget", FULL))
    return max((budget for budget in known if budget is not None), default=None)
