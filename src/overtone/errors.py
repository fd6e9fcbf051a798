"""Every error of Overtone, in one small tree.

OvertoneError
├── InputError (also a ValueError)      what the caller gave cannot be used
├── TrialFailed                         a trial without a value: the reason in one line, and details
│   ├── WorkerDied                      the process that worked on it ended
│   └── WorkerTimeout                   it took too long, and the process was killed
├── RunFailed                           a run that cannot go on: every trial fails, or no worker can be started
└── LedgerError                         a ledger that cannot be read or written

NotConvergedWarning (a UserWarning)     an answer whose certificate is worse than asked for
"""


class OvertoneError(Exception):
    """The root: `except OvertoneError` catches whatever this library raises on purpose."""


class InputError(OvertoneError, ValueError):
    """An input that cannot be used. The text says what must hold, what came, and what to do."""


class TrialFailed(OvertoneError):  # noqa: N818 - it says what happened, as WorkerDied does
    """A trial without a value. An objective may raise it: its reason and details are kept, without a traceback."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)  # both, so that it can be pickled
        self.reason, self.detail = reason, detail

    def __str__(self) -> str:
        return self.reason


class WorkerDied(TrialFailed):
    """The process that worked on a trial ended: it crashed, left, was killed, or used too much memory."""


class WorkerTimeout(TrialFailed):
    """A trial took longer than allowed; the process that worked on it was killed, with all that it had started."""


class RunFailed(OvertoneError):  # noqa: N818 - the same
    """A run that cannot go on. Its ledger is kept: once the cause is gone, it can be resumed."""


class LedgerError(OvertoneError):
    """A ledger that cannot be read or written. The text says why, and what to do."""


class NotConvergedWarning(UserWarning):
    """An answer whose certificate is worse than asked for."""
