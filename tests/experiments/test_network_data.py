"""Images: the digits, CIFAR-10's binary version and .npz files, made here at a small size."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.network.data import RECORD, load
from overtone import InputError


def records(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 256, (n, RECORD)).astype(np.uint8)
    rows[:, 0] = np.arange(n) % 10
    return rows


def write_npz(path: Path, **changed: np.ndarray | None) -> Path:
    rng = np.random.default_rng(0)
    arrays: dict[str, np.ndarray | None] = {
        "x_train": rng.integers(0, 256, (20, 32, 32, 3)).astype(np.uint8),
        "y_train": np.arange(20) % 10,
        "x_test": rng.integers(0, 256, (10, 32, 32, 3)).astype(np.uint8),
        "y_test": np.arange(10),
    }
    kept: dict[str, Any] = {name: each for name, each in (arrays | changed).items() if each is not None}
    np.savez(path, **kept)
    return path


def test_without_a_path_there_are_the_digits() -> None:
    images = load(None)
    assert images.x_train.shape == (1200, 1, 8, 8)
    assert images.x_test.shape == (597, 1, 8, 8)
    assert images.n_classes == 10
    assert images.take(5, 3).y_test.shape == (3,)


def test_the_binary_version_is_read(tmp_path: Path) -> None:
    for number in (1, 2):
        records(20, number).tofile(tmp_path / f"data_batch_{number}.bin")
    test = records(10, 3)
    test[:, 1 : 1 + 1024] = 255  # red
    test.tofile(tmp_path / "test_batch.bin")
    images = load(tmp_path)
    assert images.x_train.shape == (40, 3, 16, 16)
    assert sorted(images.y_test.tolist()) == list(range(10))
    np.testing.assert_allclose(images.x_train.mean(axis=(0, 2, 3)), 0, atol=1e-4)
    assert images.x_test[:, 0].min() == images.x_test[:, 0].max() > images.x_test[:, 1:].max()


def test_an_npz_file_gives_what_the_binary_version_does(tmp_path: Path) -> None:
    train, test = records(20, 1), records(10, 2)
    train.tofile(tmp_path / "data_batch_1.bin")
    test.tofile(tmp_path / "test_batch.bin")
    pictures = {
        name: rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        for name, rows in (("x_train", train), ("x_test", test))
    }
    path = write_npz(tmp_path / "same.npz", **pictures, y_train=train[:, 0], y_test=test[:, 0])
    a, b = load(tmp_path), load(path)
    np.testing.assert_array_equal(a.x_train, b.x_train)
    np.testing.assert_array_equal(a.y_test, b.y_test)


def test_pixels_are_means_of_squares(tmp_path: Path) -> None:
    stripes = np.zeros((20, 32, 32, 3), np.uint8)
    stripes[:, ::2] = 10 * np.arange(20)[:, None, None, None]
    images = load(write_npz(tmp_path / "stripes.npz", x_train=stripes, x_test=stripes[:10]))
    assert np.ptp(images.x_train, axis=(1, 2, 3)).max() < 1e-5
    assert len(np.unique(images.x_train[:, 0, 0, 0])) == 20


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: folder / "none.npz", "but there is none at"),
        (lambda folder: folder, "pickles are not read"),
        (lambda folder: write_npz(folder / "a.npz", x_test=None), "x_test is not in it"),
        (lambda folder: write_npz(folder / "b.npz", x_test=np.zeros((10, 8, 8, 3), np.uint8)), r"\(10, 8, 8, 3\)"),
    ],
)
def test_anything_else_is_refused_with_words(tmp_path: Path, make: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load(make(tmp_path))  # type: ignore[operator]


def test_a_batch_of_another_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data_batch_1.bin").write_bytes(b"12345")
    (tmp_path / "test_batch.bin").write_bytes(b"12345")
    with pytest.raises(InputError, match="records of 3073 bytes"):
        load(tmp_path)


def test_objects_in_an_npz_file_are_never_loaded(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "objects.npz", y_test=np.array([{}] * 10, dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        load(path)
