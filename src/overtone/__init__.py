"""Overtone: tune programs that have many discrete knobs, by the spectral method Harmonica."""

from overtone.errors import InputError, NotConvergedWarning, OvertoneError

__all__ = ["InputError", "NotConvergedWarning", "OvertoneError"]
