"""What the user tunes: parameters, clauses, and the one place that turns configurations into points and back."""

from overtone.space.clauses import Config
from overtone.space.codes import Unit
from overtone.space.parameters import Parameter, Value, boolean, choice, integer, ordinal, real
from overtone.space.restrictions import Point, Restriction
from overtone.space.space import Space

__all__ = [
    "Config",
    "Parameter",
    "Point",
    "Restriction",
    "Space",
    "Unit",
    "Value",
    "boolean",
    "choice",
    "integer",
    "ordinal",
    "real",
]
