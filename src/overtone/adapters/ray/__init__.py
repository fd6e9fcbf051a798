"""Ray Tune: our optimizers as a search algorithm of its tuners, and early stopping that leaves the stages alone."""

from overtone.adapters.ray.scheduler import FullStages
from overtone.adapters.ray.search import HarmonicaSearch

__all__ = ["FullStages", "HarmonicaSearch"]
