"""scikit-learn: Harmonica as a search with cross-validation, in the form of `RandomizedSearchCV`."""

from overtone.adapters.sklearn.search import HarmonicaSearchCV

__all__ = ["HarmonicaSearchCV"]
