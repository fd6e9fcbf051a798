"""Compression by what Python brings along: lzma and its filters, PNG's filters, a preset dictionary for zlib."""

import json
import lzma
import zlib
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine

from benchmarks.search.problem import Problem, Value, switches
from overtone.space import Config, Space, boolean, choice, ordinal

# lzma: how to lay out a table of numbers, and which filters to set how


def lzma_filters() -> Problem:
    """Bytes of the wine measurements as 32-bit numbers, compressed by lzma with every option of its filters."""
    space = Space(
        {
            "transpose": boolean(),
            "byte_planes": boolean(),
            "differences": boolean(),
            "big_endian": boolean(),
            "delta": ordinal([0, 1, 2, 4, 13, 26, 52, 178]),
            "lc": ordinal([0, 1, 2, 3, 4]),
            "lp": ordinal([0, 1, 2, 3, 4]),
            "pb": ordinal([0, 1, 2, 3, 4]),
            "mode": choice(["fast", "normal"]),
            "mf": choice(["hc3", "hc4", "bt2", "bt3", "bt4"]),
            "nice_len": ordinal([4, 8, 16, 32, 64, 128, 200, 273]),
            "depth": ordinal([0, 1, 4, 16]),
            "dict_size": ordinal([4096, 8192, 16384, 65536]),
        },
        forbid=[{"lc": 4, "lp": [1, 2, 3, 4]}, {"lc": 3, "lp": [2, 3, 4]}, {"lc": 2, "lp": [3, 4]}, {"lc": 1, "lp": 4}],
    )  # lc + lp <= 4
    table = np.round(load_wine().data * 1000).astype(np.int64)
    return Problem("lzma filters, bytes", space, partial(_packed, table), 200, is_real=True)


def _packed(table: Any, config: Config) -> Value:
    """Failed where lzma refuses the filters."""
    rows = np.diff(table, axis=0, prepend=0) if config["differences"] else table
    rows = rows.T if config["transpose"] else rows
    raw = np.ascontiguousarray(rows).astype(">i4" if config["big_endian"] else "<i4").tobytes()
    if config["byte_planes"]:
        raw = np.frombuffer(raw, np.uint8).reshape(-1, 4).T.tobytes()
    main = {name: config[name] for name in ("lc", "lp", "pb", "nice_len", "depth", "dict_size")}
    kinds = {"mode": f"MODE_{config['mode']}".upper(), "mf": f"MF_{config['mf']}".upper()}
    filters: list[dict[str, Any]] = [
        {"id": lzma.FILTER_LZMA2, **main, **{name: getattr(lzma, word) for name, word in kinds.items()}}
    ]
    if config["delta"]:
        filters.insert(0, {"id": lzma.FILTER_DELTA, "dist": config["delta"]})
    try:
        return float(len(lzma.compress(raw, lzma.FORMAT_RAW, filters=filters)))
    except lzma.LZMAError:
        return None


# PNG: one of five filters for each row of an image


def png_rows() -> Problem:
    """Bytes of an image of handwritten digits after zlib, when each of its 40 rows has one of PNG's filters."""
    images = load_digits().images[:50].astype(np.uint8) * 15
    image = images.reshape(5, 10, 8, 8).transpose(0, 2, 1, 3).reshape(40, 80)
    rows = _filtered(image)
    space = Space({f"row_{i:02}": choice(["none", "sub", "up", "average", "paeth"]) for i in range(len(image))})
    return Problem("PNG row filters, bytes", space, partial(_png, rows), 400, is_real=True)


def _filtered(image: Any) -> list[dict[str, bytes]]:
    """Every row under every filter; all arithmetic is modulo 256."""
    x = np.pad(image.astype(np.int16), ((1, 0), (1, 0)))
    here, left, up, corner = x[1:, 1:], x[1:, :-1], x[:-1, 1:], x[:-1, :-1]
    guess = left + up - corner
    apart = [np.abs(guess - each) for each in (left, up, corner)]
    paeth = np.where((apart[0] <= apart[1]) & (apart[0] <= apart[2]), left, np.where(apart[1] <= apart[2], up, corner))
    predicted = {"none": 0 * here, "sub": left, "up": up, "average": (left + up) // 2, "paeth": paeth}
    coded = {name: ((here - each) % 256).astype(np.uint8) for name, each in predicted.items()}
    names = list(predicted)
    return [{name: bytes([names.index(name)]) + coded[name][i].tobytes() for name in names} for i in range(len(image))]


def _png(rows: list[dict[str, bytes]], config: Config) -> float:
    data = b"".join(row[str(name)] for row, name in zip(rows, config.values(), strict=True))
    return float(len(zlib.compress(data, 9)))


# zlib: which phrases to put into a preset dictionary


def preset_dictionary() -> Problem:
    """Bytes of 30 short JSON messages with a dictionary of chosen phrases, and of the dictionary itself."""
    wine = load_wine()
    rows = [dict(zip(wine.feature_names, row, strict=True)) for row in wine.data[::6].round(2).tolist()]
    messages = [json.dumps({"kind": "measurement", **row, "status": "ok"}) for row in rows]
    phrases = [f'", "{name}": ' for name in wine.feature_names]
    phrases += ['{"kind": "measurement"', ', "status": "ok"}', '", "', '": 1', '": 2', "1.0", "2.0", "0.3"]
    phrases += [name.split("_")[0] for name in wine.feature_names] + ['": 0.', "_of_", "intensity", "phenols", "acid"]
    phrases += ["00, ", ".0, ", "ine", "id", "al", "in"]
    true = partial(_messages, [message.encode() for message in messages], [phrase.encode() for phrase in phrases])
    return Problem("zlib dictionary, bytes", switches(len(phrases)), true, 300, is_real=True)


def _messages(messages: list[bytes], phrases: list[bytes], config: Config) -> float:
    words = b"".join(phrase for phrase, chosen in zip(phrases, config.values(), strict=True) if chosen)
    total = 2 * len(words)
    for message in messages:
        packer = zlib.compressobj(9, zdict=words) if words else zlib.compressobj(9)
        total += len(packer.compress(message)) + len(packer.flush())
    return float(total)
