"""Values as a fit sees them: bent, where good values lie close together and bad ones far apart.

z = log(1 + c s) / log(1 + c) for a value s, 0 the best and 1 the ceiling; c = 0: z = s.
"""

import math

import numpy as np

from overtone.spectral.monomials import FloatArray

BENDS = (0.0, 5.0, 30.0)


def bent(values: FloatArray, bend: float) -> FloatArray:
    """(T,) -> (T,); a value that is better than the best of before does not go to minus infinity."""
    return np.log1p(np.maximum(bend * values, -0.5)) / math.log1p(bend) if bend else values


def steepness(bend: float) -> float:
    """dz / ds at the best value."""
    return bend / math.log1p(bend) if bend else 1.0


def volume(values: FloatArray, bend: float) -> float:
    """sum log dz / ds: what a density of the values owes to the bend."""
    return float(np.log(steepness(bend) / (1 + bend * values)).sum())
