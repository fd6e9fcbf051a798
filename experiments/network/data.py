"""Images to train on: CIFAR-10 from the user's disk, or scikit-learn's digits, which need none."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from overtone import InputError

Array = np.ndarray[Any, Any]
SIDE = 16  # pixels that images are averaged down to
RECORD = 1 + 3 * 32 * 32  # bytes of an image of CIFAR-10's binary version: a label, then red, green, blue
DIGITS_TEST = 597
SHAPES = "`x_train` and `x_test` (T, 32, 32, 3) of uint8, `y_train` and `y_test` (T,)"


@dataclass(frozen=True)
class Images:
    """Standardized images and their labels, to train on and to judge by."""

    x_train: Array  # (T, channels, side, side) float32
    y_train: Array  # (T,) int64
    x_test: Array
    y_test: Array
    name: str

    @property
    def n_classes(self) -> int:
        """Labels are 0, 1, ..."""
        return int(self.y_train.max()) + 1

    def take(self, n_train: int, n_test: int) -> "Images":
        """The first so many: their order is random already."""
        return Images(
            self.x_train[:n_train], self.y_train[:n_train], self.x_test[:n_test], self.y_test[:n_test], self.name
        )


@cache
def load(path: Path | None) -> Images:
    """From a folder with CIFAR-10's binary version, from an .npz file, or, without a path, the digits."""
    if path is None:
        return _digits()
    if path.is_dir():
        return _prepared(*_binary(path), "CIFAR-10")
    if path.suffix == ".npz" and path.is_file():
        return _prepared(*_npz(path), path.stem)
    raise InputError(
        f"the data must be a folder with CIFAR-10's binary version (data_batch_1.bin, ...), or an .npz file with "
        f"{SHAPES}, but there is none at {path}: leave it out to use scikit-learn's digits"
    )


def _binary(folder: Path) -> tuple[Array, Array, Array, Array]:
    """The official binary version; the version for Python is a pickle, which can run code, and is not read."""
    batches = sorted(folder.glob("data_batch_*.bin"))
    test = folder / "test_batch.bin"
    if not batches or not test.is_file():
        raise InputError(
            f"a folder of CIFAR-10 must hold data_batch_1.bin, ... and test_batch.bin, but {folder} does not: "
            "take the binary version; pickles are not read"
        )
    x, y = zip(*map(_records, batches), strict=True)
    return np.concatenate(x), np.concatenate(y), *_records(test)


def _records(path: Path) -> tuple[Array, Array]:
    raw = np.fromfile(path, dtype=np.uint8)
    if not len(raw) or len(raw) % RECORD:
        raise InputError(f"a batch must be records of {RECORD} bytes, but {path} has {len(raw)} bytes")
    rows = raw.reshape(-1, RECORD)
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0].astype(np.int64)


def _npz(path: Path) -> tuple[Array, Array, Array, Array]:
    names = ("x_train", "y_train", "x_test", "y_test")
    with np.load(path, allow_pickle=False) as file:
        missing = [name for name in names if name not in file]
        if missing:
            raise InputError(f"{path} must hold {SHAPES}, but {', '.join(missing)} is not in it")
        x_train, y_train, x_test, y_test = (file[name] for name in names)
    for x, y in ((x_train, y_train), (x_test, y_test)):
        if x.shape[1:] != (32, 32, 3) or x.dtype != np.uint8 or y.shape != x.shape[:1]:
            raise InputError(f"{path} must hold {SHAPES}, but got {x.shape} of {x.dtype} and {y.shape}")
    return x_train, y_train, x_test, y_test


def _prepared(x_train: Array, y_train: Array, x_test: Array, y_test: Array, name: str) -> Images:
    """Averaged down, shuffled, and standardized by the training images' mean and spread of each channel."""
    rng = np.random.default_rng(0)
    train, test = rng.permutation(len(x_train)), rng.permutation(len(x_test))
    small, judged = _reduced(x_train[train]), _reduced(x_test[test])
    mean, spread = small.mean(axis=(0, 2, 3), keepdims=True), small.std(axis=(0, 2, 3), keepdims=True)
    y_train, y_test = y_train[train].astype(np.int64), y_test[test].astype(np.int64)
    return Images((small - mean) / spread, y_train, (judged - mean) / spread, y_test, name)


def _reduced(x: Array) -> Array:
    """Means of squares of pixels, channels first.  # (T, 32, 32, 3) -> (T, 3, 16, 16)"""
    step = x.shape[1] // SIDE
    means = x.reshape(len(x), SIDE, step, SIDE, step, x.shape[3]).mean(axis=(2, 4), dtype=np.float32)
    return np.ascontiguousarray(means.transpose(0, 3, 1, 2))


def _digits() -> Images:
    """1,797 digits of 8 x 8, grey."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(x))
    images = x[order].reshape(-1, 1, 8, 8).astype(np.float32)
    images = (images - images.mean()) / images.std()
    y = y[order].astype(np.int64)
    return Images(images[DIGITS_TEST:], y[DIGITS_TEST:], images[:DIGITS_TEST], y[:DIGITS_TEST], "digits")
