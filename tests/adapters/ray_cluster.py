"""A real local Ray for the tests, small, without a dashboard, that reports nothing to anybody."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def local_ray() -> Iterator[str]:
    """Its address."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        context = ray.init(num_cpus=2, include_dashboard=False, object_store_memory=80 * 2**20, log_to_driver=False)
        try:
            yield context.address_info["gcs_address"]
        finally:
            ray.shutdown()
