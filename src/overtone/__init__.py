"""Overtone: tune programs that have many discrete knobs, by the spectral method Harmonica."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overtone.errors import (
        InputError,
        LedgerError,
        NotConvergedWarning,
        OvertoneError,
        RunFailed,
        TrialFailed,
    )
    from overtone.optimizers import (
        Harmonica,
        Hyperband,
        LocalSearch,
        Optimizer,
        RandomSearch,
        SpectralDescent,
        Stage,
        SuccessiveHalving,
        Trial,
        importance_table,
    )
    from overtone.space import Parameter, Space, boolean, choice, integer, ordinal, real
    from overtone.tuning import Result, minimize

# Where each name is. They are loaded when first used: a worker or `overtone --help` starts without the engine.
_HOMES = {
    "overtone.errors": "InputError LedgerError NotConvergedWarning OvertoneError RunFailed TrialFailed",
    "overtone.optimizers": (
        "Harmonica Hyperband LocalSearch Optimizer RandomSearch SpectralDescent Stage SuccessiveHalving Trial "
        "importance_table"
    ),
    "overtone.space": "Parameter Space boolean choice integer ordinal real",
    "overtone.tuning": "Result minimize",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Harmonica",
    "Hyperband",
    "InputError",
    "LedgerError",
    "LocalSearch",
    "NotConvergedWarning",
    "Optimizer",
    "OvertoneError",
    "Parameter",
    "RandomSearch",
    "Result",
    "RunFailed",
    "Space",
    "SpectralDescent",
    "Stage",
    "SuccessiveHalving",
    "Trial",
    "TrialFailed",
    "boolean",
    "choice",
    "importance_table",
    "integer",
    "minimize",
    "ordinal",
    "real",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'overtone' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
