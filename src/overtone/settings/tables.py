"""The tables of a file, as they may be written: every key that there is, with its type."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

TEXT, TABLE, LIST = "(text)", "(table)", "(list)"  # forms that a value may have; they are no part of a key's path
UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def _form(given: Any) -> str:
    return TABLE if isinstance(given, dict) else LIST if isinstance(given, list) else TEXT


def _bytes(given: Any) -> Any:
    """'2GB' as a number; what is no size stays, and is refused for that."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([A-Za-z]+)", given) if isinstance(given, str) else None
    return int(float(found[1]) * UNITS[found[2]]) if found and found[2] in UNITS else given


Scalar = bool | int | float | str
Whole = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Size = Annotated[int, Field(ge=1), BeforeValidator(_bytes)]
Level = Annotated[Any, BeforeValidator(lambda given: _checked_scalar(given))]
Levels = Annotated[list[Level], Field(min_length=2)]
Clause = Annotated[dict[str, Any], BeforeValidator(lambda given: _checked_clause(given))]
Group = Annotated[
    Annotated[str, Tag(TEXT)] | Annotated[list[str], Tag(LIST), Field(min_length=1)], Discriminator(_form)
]
Base = Literal["random_search", "local_search", "spectral_descent", "hyperband", "successive_halving"]


def _checked_scalar(given: Any) -> Scalar:
    if not isinstance(given, bool | int | float | str):
        raise ValueError("must be a text, a number, true or false")
    return given


def _checked_clause(given: Any) -> Any:
    if isinstance(given, dict):
        for wanted in given.values():
            for value in wanted if isinstance(wanted, list) else [wanted]:
                _checked_scalar(value)
    return given


class Table(BaseModel):
    """Strict: what is not here is a mistake, and a text is no number."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ValueTable(Table):
    """Where the number is, if it takes more than a word."""

    regex: str | None = None
    json_path: str | None = Field(default=None, alias="json")
    file: str | None = None


class ObjectiveTable(Table):
    """What to run: a command, or a Python function."""

    command: (
        Annotated[
            Annotated[str, Tag(TEXT)] | Annotated[list[Group], Tag(LIST), Field(min_length=1)], Discriminator(_form)
        ]
        | None
    ) = None
    function: str | None = None
    value: Annotated[Annotated[str, Tag(TEXT)] | Annotated[ValueTable, Tag(TABLE)], Discriminator(_form)] = "last line"
    goal: Literal["minimize", "maximize"] = "minimize"
    shell: bool = False
    env: dict[str, str] = Field(default_factory=dict)
    repeats: Whole = 1
    timeout: Positive | None = None
    memory: Size | None = None


class ParameterTable(Table):
    """One of five kinds, and what goes with it."""

    boolean: Literal[True] | None = None
    choice: Levels | None = None
    ordinal: Levels | None = None
    integer: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    real: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    levels: Whole | None = None
    log: bool | None = None
    coding: Literal["binary", "contrasts"] | None = None
    when: Clause | None = None
    on: str | None = None
    off: str | None = None


class HarmonicaTable(Table):
    """The six hyperparameters of the method, its base, and the fidelity of its samples."""

    n_stages: Annotated[int, Field(ge=0)] | None = None
    n_samples: Whole | None = None
    sparsity: Whole | None = None
    degree: Whole | None = None
    l1_penalty: Positive | None = None
    n_minimizers: Whole | None = None
    base: Base | None = None
    budget: Positive | None = None


class RandomSearchTable(Table):
    """How many, and at which fidelity."""

    n_evaluations: Whole | None = None
    budget: Positive | None = None


class LocalSearchTable(RandomSearchTable):
    """The same."""


class SpectralDescentTable(RandomSearchTable):
    """The same, how many a round, and how many it does not wait for."""

    batch: Whole | None = None
    lag: Annotated[int, Field(ge=0)] | None = None


class HyperbandTable(Table):
    """The largest budget, and how steeply it falls."""

    max_budget: Positive | None = None
    eta: Annotated[int, Field(ge=2)] | None = None


class SuccessiveHalvingTable(HyperbandTable):
    """One bracket."""

    n_configurations: Whole | None = None
    min_budget: Positive | None = None


class RunTable(Table):
    """How to run it, and when to stop."""

    workers: Whole | None = None
    ledger: Annotated[str, Field(min_length=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    evaluations: Whole | None = None
    seconds: Positive | None = None
    target: Number | None = None
    retries: Annotated[int, Field(ge=0)] = 1


class FileTable(Table):
    """A whole file."""

    objective: ObjectiveTable
    space: Annotated[dict[str, ParameterTable], Field(min_length=1)]
    forbid: list[Clause] = Field(default_factory=list)
    default: dict[str, Level] | None = None
    optimizer: Literal["automatic", "harmonica"] | Base = "automatic"
    harmonica: HarmonicaTable | None = None
    random_search: RandomSearchTable | None = None
    local_search: LocalSearchTable | None = None
    spectral_descent: SpectralDescentTable | None = None
    hyperband: HyperbandTable | None = None
    successive_halving: SuccessiveHalvingTable | None = None
    run: RunTable = RunTable()
