import subprocess
import sys

import pytest

import overtone

EXPORTED = [
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


def test_the_exported_names_are_these() -> None:
    """A name is a promise: whoever adds or removes one says so here, and in the changelog."""
    assert list(overtone.__all__) == EXPORTED


def test_the_exported_names_are_sorted_and_there() -> None:
    assert sorted(overtone.__all__) == list(overtone.__all__)
    assert [name for name in overtone.__all__ if not hasattr(overtone, name)] == []


def test_every_class_says_what_it_is() -> None:
    undocumented = [name for name in overtone.__all__ if not getattr(overtone, name).__doc__]
    assert undocumented == []


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'minimise'"):
        overtone.minimise  # noqa: B018


def test_names_are_loaded_when_used() -> None:
    """A worker, and `overtone --help`, need neither numpy nor the engine."""
    code = "import sys, overtone; assert 'numpy' not in sys.modules; overtone.Space; assert 'numpy' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
