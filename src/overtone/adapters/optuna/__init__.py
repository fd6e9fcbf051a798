"""Optuna 5: Harmonica as a sampler of its studies, its samplers as our optimizers, our runs in its dashboard."""

from overtone.adapters.optuna.dashboard import show
from overtone.adapters.optuna.dimensions import distributions, suggest
from overtone.adapters.optuna.ledger import OptunaLedger
from overtone.adapters.optuna.sampler import HarmonicaSampler
from overtone.adapters.optuna.search import OptunaSearch

__all__ = ["HarmonicaSampler", "OptunaLedger", "OptunaSearch", "distributions", "show", "suggest"]
