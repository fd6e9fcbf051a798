"""Ask/tell machines: seeded, deterministic, with no clock and no I/O."""

from overtone.optimizers.halving import Hyperband, SuccessiveHalving
from overtone.optimizers.harmonica import Harmonica
from overtone.optimizers.local_search import LocalSearch
from overtone.optimizers.random_search import RandomSearch
from overtone.optimizers.spectral_descent import SpectralDescent
from overtone.optimizers.stage import Stage, importance_table
from overtone.optimizers.trial import Base, Optimizer, Trial

__all__ = [
    "Base",
    "Harmonica",
    "Hyperband",
    "LocalSearch",
    "Optimizer",
    "RandomSearch",
    "SpectralDescent",
    "Stage",
    "SuccessiveHalving",
    "Trial",
    "importance_table",
]
