"""The objective: train a network with a configuration, for as many epochs as the budget says, and test it."""

import json
import os
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.network.plan import Shape


@dataclass(frozen=True)
class Training:
    """(config, budget) -> the test error in percent; the same config with the same seed gives the same error.

    Random numbers follow from the seed and the whole configuration, dummies included: every training has its own, as
    every training of the paper had. All trainings are kept in a table, so that none is made twice, in whatever run.
    """

    data: Path | None
    shape: Shape
    n_train: int
    n_test: int
    seed: int
    table: Path

    def __call__(self, config: Mapping[str, Any], budget: float) -> float:
        """`budget` is in epochs."""
        from experiments.network.data import load  # here: a worker loads torch, the coordinator does not
        from experiments.network.net import test_error
        from experiments.network.options import recipe

        key = training_key(self.shape, config, budget, self.seed)
        known = read_table(self.table).get(key)
        if known is not None:
            return known[0]
        start = time.process_time()
        images = load(self.data).take(self.n_train, self.n_test)
        error = test_error(images, self.shape, recipe(config), round(budget), _random_seed(config, budget, self.seed))
        _append(self.table, {"key": key, "error": error, "seconds": round(time.process_time() - start, 3)})
        return error


def training_key(shape: Shape, config: Mapping[str, Any], budget: float, seed: int) -> str:
    """What a training is a function of, short: layers, epochs, seed, and a hash of the configuration."""
    text = _text(config, budget, seed).encode()
    return f"{shape.n_layers}-{round(budget)}-{seed}-{zlib.crc32(text):08x}{zlib.adler32(text):08x}"


def _text(config: Mapping[str, Any], budget: float, seed: int) -> str:
    return json.dumps([seed, round(budget), *config.items()])


def _random_seed(config: Mapping[str, Any], budget: float, seed: int) -> int:
    return zlib.crc32(_text(config, budget, seed).encode())


def _append(path: Path, row: dict[str, Any]) -> None:
    """One write to the end of the file, so that processes do not mix their lines."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, (json.dumps(row) + "\n").encode())
    finally:
        os.close(descriptor)


def read_table(path: Path) -> dict[str, tuple[float, float]]:
    """Key -> error and the processor's seconds; a line that a kill cut off is left out."""
    if not path.is_file():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    return {row["key"]: (row["error"], row["seconds"]) for row in rows}
