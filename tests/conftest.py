"""What every test runs under: one deterministic hypothesis profile, and `--heavy` for the slow and the needy."""

import pytest
from hypothesis import settings

from tests.postgresql import postgresql as postgresql

# derandomize: the same examples everywhere, so that a red run is red again on the next machine
settings.register_profile("overtone", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("overtone")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--heavy", action="store_true", help="also run the tests marked `heavy`")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "heavy: slow, or needs parts that are not always there; runs with --heavy only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--heavy"):
        return
    heavy = [item for item in items if item.get_closest_marker("heavy")]
    if heavy:
        config.hook.pytest_deselected(items=heavy)
        items[:] = [item for item in items if not item.get_closest_marker("heavy")]
