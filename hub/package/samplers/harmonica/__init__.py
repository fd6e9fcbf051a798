"""Harmonica for Optuna; the code is in the package `overtone`."""

from overtone.adapters.optuna import HarmonicaSampler, distributions, show, suggest

__all__ = ["HarmonicaSampler", "distributions", "show", "suggest"]
