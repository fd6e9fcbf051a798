"""`OptunaLedger`: a run of ours is also a study in an Optuna storage, live, for optuna-dashboard and Optuna's plots."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from queue import Queue
from threading import Thread
from types import TracebackType
from typing import Any

import optuna
from optuna.samplers import RandomSampler
from optuna.storages import BaseStorage, RDBStorage
from optuna.trial import TrialState

from overtone.adapters.optuna.dashboard import show
from overtone.adapters.optuna.dimensions import shown
from overtone.errors import InputError
from overtone.running.journal import read_history, read_outcome, read_trial
from overtone.running.ledger import Event, Ledger, MemoryLedger
from overtone.running.record import History
from overtone.space import Space

MARK = "overtone"  # user attribute of a study that is a copy of a run
SHOWN = ("stage", "end")  # events after which the plots are renewed


class OptunaLedger:
    """A ledger that passes everything on to another one, and copies it to a study.

    ledger: the one that counts, as `SqliteLedger("tune.db")`; automatic: one in memory.
    storage: an Optuna storage or its address, as "sqlite:///study.db"; study_name: of a study that is new, or was
        written by the same run. What it lacks, e.g. after a crash, is written first.
    Copying is done by a thread, so the run does not wait for it, but for its end. If it fails, a warning says so, and
    the run goes on without; the next one with the same ledger makes up for it.
    """

    def __init__(self, storage: str | BaseStorage, study_name: str, ledger: Ledger | None = None) -> None:
        self._ledger = MemoryLedger() if ledger is None else ledger
        self._mine = RDBStorage(storage) if isinstance(storage, str) else None  # to be closed
        self._storage = optuna.storages.get_storage(self._mine or storage)
        self._copy = _Copy(self._storage, study_name)
        self._queue: Queue[Event | History | None] = Queue()
        self._thread = Thread(target=self._work, name="overtone copies a run to Optuna", daemon=True)
        self._problem: Exception | None = None
        self._warned = False
        for event in self._ledger.read():
            self._put(event, goes_on=True)
        self._thread.start()

    def append(self, *events: Event) -> None:
        """To the ledger first; the copy follows."""
        self._ledger.append(*events)
        for event in events:
            self._put(event, goes_on=False)
        if any(event["kind"] in SHOWN for event in events):
            self._queue.put(read_history(self._ledger.read()))
        if any(event["kind"] == "end" for event in events):
            self._queue.join()
        self._warn()

    def _put(self, event: Event, *, goes_on: bool) -> None:
        """To the thread; but a study of something else is refused here and now."""
        if event["kind"] == "start":
            self._copy.start(event, goes_on=goes_on)
        else:
            self._queue.put(event)

    def read(self) -> Iterator[Event]:
        """What the ledger says."""
        return self._ledger.read()

    def close(self) -> None:
        """Finish the copy, and close the ledger."""
        self._queue.put(None)
        self._thread.join()
        self._ledger.close()
        if self._mine is not None:
            self._mine.remove_session()
            self._mine.engine.dispose()
        self._warn()

    def __enter__(self) -> "OptunaLedger":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _work(self) -> None:
        """In the thread: copy until told to stop; after an error, only take things off."""
        while (item := self._queue.get()) is not None:
            try:
                if self._problem is None:
                    self._copy.show(item) if isinstance(item, History) else self._copy.write(item)
            except Exception as error:  # noqa: BLE001 - the copy is for looking at: it must not end the run
                self._problem = error
            finally:
                self._queue.task_done()
        self._storage.remove_session()  # that of this thread

    def _warn(self) -> None:
        if self._problem is not None and not self._warned:
            self._warned = True
            warnings.warn(
                "the run goes on, but is no longer copied to Optuna's storage: "
                f"{type(self._problem).__name__}: {self._problem}",
                RuntimeWarning,
                stacklevel=3,
            )


class _Copy:
    """Writes events to a study; those that are there already change nothing."""

    def __init__(self, storage: BaseStorage, name: str) -> None:
        self._storage, self._name = storage, name
        self._study: optuna.Study | None = None
        self._trials: list[int] = []  # Optuna's id of each of our trials, by number
        self._kinds: dict[str, Any] = {}
        self._full: float | None = None

    def write(self, event: Event) -> None:
        """Copy one event."""
        if event["kind"] == "ask":
            self._ask(event)
        elif event["kind"] == "tell":
            self._tell(event)

    def show(self, history: History) -> None:
        """Renew the plots and the note."""
        show(self._study, history)

    def start(self, event: Event, *, goes_on: bool) -> None:
        """Make the study; if the run goes on, it may be there."""
        with suppress(optuna.exceptions.DuplicatedStudyError):
            made = self._storage.create_new_study([_direction(event["goal"])], self._name)
            self._storage.set_study_user_attr(made, MARK, _facts(event))
            goes_on = True
        study = optuna.load_study(study_name=self._name, storage=self._storage, sampler=RandomSampler())
        if not goes_on or study.user_attrs.get(MARK) != _facts(event):
            raise InputError(
                f"a study must be new, or the copy of the run that the ledger holds, but {self._name!r} is another "
                "one: give another `study_name`"
            )
        self._study = study
        self._trials = [trial._trial_id for trial in study.get_trials(deepcopy=False)]
        space = Space.from_dict(event["space"])
        self._kinds = {name: shown(parameter) for name, parameter in space.parameters.items()}
        self._full = event["settings"].get("full_budget")

    def _ask(self, event: Event) -> None:
        """A trial as one record: Optuna's own way writes every parameter by itself."""
        if event["number"] < len(self._trials):
            return
        trial = read_trial(event)
        about = {"stage": trial.stage} | ({} if trial.budget is None else {"budget": trial.budget})
        running = optuna.trial.create_trial(
            state=TrialState.RUNNING,
            params=dict(trial.config),
            distributions={name: self._kinds[name] for name in trial.config},
            user_attrs=about,
        )
        assert self._study is not None  # noqa: S101
        self._trials.append(self._storage.create_new_trial(self._study._study_id, template_trial=running))

    def _tell(self, event: Event) -> None:
        """A value at less than the full budget is that of a trial that was stopped early: pruned, in Optuna's words."""
        number, outcome = self._trials[event["number"]], read_outcome(event)
        known = self._storage.get_trial(number)
        if known.state.is_finished():
            return
        budget = known.user_attrs.get("budget")
        about = {"seconds": outcome.seconds} | ({"reason": outcome.reason} if outcome.reason else {})
        for name, fact in about.items():
            self._storage.set_trial_user_attr(number, name, fact)
        if outcome.value is None:
            self._storage.set_trial_state_values(number, TrialState.FAIL)
            return
        if budget is not None:
            self._storage.set_trial_intermediate_value(number, round(budget), outcome.value)
        is_early = budget is not None and self._full is not None and budget < self._full
        self._storage.set_trial_state_values(
            number, TrialState.PRUNED if is_early else TrialState.COMPLETE, [outcome.value]
        )


def _direction(goal: str) -> optuna.study.StudyDirection:
    return optuna.study.StudyDirection.MAXIMIZE if goal == "maximize" else optuna.study.StudyDirection.MINIMIZE


def _facts(start: Event) -> Mapping[str, Any]:
    """What tells one run from another."""
    settings = start["settings"]
    return {
        "goal": start["goal"],
        "parameters": list(start["space"]["parameters"]),
        **{name: settings.get(name) for name in ("seed", "optimizer", "objective")},
    }
