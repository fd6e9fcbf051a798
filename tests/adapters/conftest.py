"""What tests of other projects, run here with our classes in them, need to be collected."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thread_unsafe: scikit-learn's; says nothing here")
