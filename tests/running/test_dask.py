"""A real Dask cluster of processes, through its executor."""

from typing import Any

import pytest

import overtone as ot

SPACE = ot.Space({f"x{i}": ot.boolean() for i in range(12)})


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")  # Dask and tornado have their own
def test_a_dask_cluster_gives_the_same_answer_as_one_process() -> None:
    from distributed import Client, LocalCluster

    def value(config: dict[str, Any]) -> float:
        if config["x1"] and config["x2"]:
            raise ValueError("these two do not go together")
        return float(3 * config["x3"] - 2 * config["x5"] * config["x7"])

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, Client(cluster) as client:
        executor = client.get_executor(pure=False)  # pure: equal trials would be evaluated once
        many = ot.minimize(value, SPACE, n_evaluations=100, n_workers=4, executor=executor, progress=False)
    one = ot.minimize(value, SPACE, n_evaluations=100, n_workers=1, progress=False)
    assert [(r.trial, r.outcome.value, r.outcome.reason) for r in many.trials] == [
        (r.trial, r.outcome.value, r.outcome.reason) for r in one.trials
    ]
    assert many.stages == one.stages
    assert any("do not go together" in record.outcome.reason for record in many.trials)
