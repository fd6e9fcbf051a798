"""The paper's experiment with a residual network (section 5 and appendix): `python -m experiments network`."""

from experiments.network.claims import claims
from experiments.network.experiment import run
from experiments.network.report import blocks

__all__ = ["blocks", "claims", "run"]
