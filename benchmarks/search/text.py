"""A text classifier with real options: to which module of Python's library does a documentation string belong?"""

import inspect
import json
import logging
import pathlib
import platform
import sqlite3
import statistics
import string
import threading
import warnings
from functools import partial
from types import ModuleType

import numpy as np
import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.neighbors import NearestCentroid

from benchmarks.search.problem import Problem, Value
from overtone.space import Config, Space, boolean, choice, ordinal, real

MODULES = (json, logging, pathlib, sqlite3, statistics, string, threading)
COMMON = ("the", "a", "of", "is", "to", "and", "in", "for", "this", "that")


def text_pipeline() -> Problem:
    """Error on every third text when trained on the others, in percent."""
    space = Space(
        {
            "analyzer": choice(["word", "char_wb"]),
            "longest": ordinal([1, 2], when={"analyzer": "word"}),
            "characters": ordinal([2, 3, 4, 5], when={"analyzer": "char_wb"}),
            "lowercase": boolean(),
            "stop_words": boolean(when={"analyzer": "word"}),
            "first_line": boolean(),
            "min_df": ordinal([1, 2, 3, 5]),
            "max_df": ordinal([0.2, 0.4, 0.7, 1.0]),
            "max_features": ordinal([50, 100, 200, 400]),
            "binary": boolean(),
            "idf": boolean(),
            "smooth_idf": boolean(when={"idf": True}),
            "sublinear": boolean(),
            "norm": choice(["l1", "l2", None]),
            "model": choice(["multinomial", "complement", "ridge", "centroid"]),
            "alpha": real(0.001, 10, levels=8, log=True, when={"model": ["multinomial", "complement", "ridge"]}),
            "fit_prior": boolean(when={"model": "multinomial"}),
            "complement_norm": boolean(when={"model": "complement"}),
            "metric": choice(["euclidean", "manhattan"], when={"model": "centroid"}),
        }
    )
    stamp = f"{sklearn.__version__} {platform.python_version()}"
    true = partial(_error, *_texts())
    return Problem("text pipeline, % error", space, true, 150, is_real=True, is_slow=True, stamp=stamp)


def _texts() -> tuple[list[str], np.ndarray]:
    """At most 20 texts of a module, by name, and the numbers of their modules."""
    found = [(doc, i) for i, module in enumerate(MODULES) for doc in _documented(module)[:20]]
    return [doc for doc, _ in found], np.array([i for _, i in found])


def _documented(module: ModuleType) -> list[str]:
    """Of its classes and functions, and of the methods of its classes."""
    owners = [thing for _, thing in sorted(vars(module).items()) if inspect.isclass(thing) or inspect.isfunction(thing)]
    things = owners + [m for c in owners if inspect.isclass(c) for _, m in sorted(vars(c).items()) if callable(m)]
    docs = [thing.__doc__ for thing in things if getattr(thing, "__module__", "") == module.__name__]
    return list(dict.fromkeys(inspect.cleandoc(doc)[:200] for doc in docs if doc))


def _error(texts: list[str], y: np.ndarray, config: Config) -> Value:
    docs = [text.partition("\n")[0] for text in texts] if config["first_line"] else texts
    held = np.arange(len(docs)) % 3 == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            X = _vectorizer(config).fit_transform(docs).toarray()
            guess = _model(config).fit(X[~held], y[~held]).predict(X[held])
        except ValueError:  # no word is left
            return None
    return 100 * float((guess != y[held]).mean())


def _vectorizer(config: Config) -> TfidfVectorizer:
    words = config["analyzer"] == "word"
    return TfidfVectorizer(
        analyzer=config["analyzer"],
        ngram_range=(1, config["longest"]) if words else (config["characters"], config["characters"]),
        lowercase=config["lowercase"],
        stop_words=list(COMMON) if words and config["stop_words"] else None,
        min_df=config["min_df"],
        max_df=config["max_df"],
        max_features=config["max_features"],
        binary=config["binary"],
        use_idf=config["idf"],
        smooth_idf=config.get("smooth_idf", True),
        sublinear_tf=config["sublinear"],
        norm=config["norm"],
    )


def _model(config: Config) -> MultinomialNB | ComplementNB | RidgeClassifier | NearestCentroid:
    match config["model"]:
        case "multinomial":
            return MultinomialNB(alpha=config["alpha"], fit_prior=config["fit_prior"])
        case "complement":
            return ComplementNB(alpha=config["alpha"], norm=config["complement_norm"])
        case "ridge":
            return RidgeClassifier(config["alpha"])
    return NearestCentroid(metric=config["metric"])
