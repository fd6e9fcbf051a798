"""Every error of Overtone, in one small tree.

OvertoneError
└── InputError (also a ValueError)      what the caller gave cannot be used

NotConvergedWarning (a UserWarning)     an answer whose certificate is worse than asked for
"""


class OvertoneError(Exception):
    """The root: `except OvertoneError` catches whatever this library raises on purpose."""


class InputError(OvertoneError, ValueError):
    """An input that cannot be used. The text says what must hold, what came, and what to do."""


class NotConvergedWarning(UserWarning):
    """An answer whose certificate is worse than asked for."""
