"""The loop: fill the workers, wait for the first, tell the optimizer; the ledger knows everything before that."""

import math
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from overtone.errors import RunFailed, WorkerDied
from overtone.optimizers.stage import Stage
from overtone.optimizers.trial import Optimizer, Trial, check_whole, full_budget
from overtone.running.evaluation import Measured, Objective, Task, explained
from overtone.running.journal import (
    ask_event,
    check_same,
    end_event,
    replay,
    signed,
    stage_event,
    start_event,
    tell_event,
)
from overtone.running.ledger import Event, Ledger
from overtone.running.limits import Limits as Limits  # also to be had from here
from overtone.running.progress import Progress, Quiet, Status
from overtone.running.record import Goal, History, Outcome, Record
from overtone.running.tally import Tally
from overtone.running.workers import Workers
from overtone.space import Config, Space

FINISHED = ("done", "evaluations used up")  # reasons to end when nothing is out
HOPELESS = 10  # trials without a single success, after which a run stops; twice the number of workers if that is more


@dataclass(frozen=True)
class _Flight:
    """A trial that is being evaluated."""

    trial: Trial
    attempt: int = 1
    start: float = 0.0


def run(
    optimizer: Optimizer,
    objective: Objective,
    *,
    space: Space,
    executor: Executor,
    n_workers: int,
    ledger: Ledger,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    retries: int = 1,
    goal: Goal = "minimize",
    default: Config | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    progress: Progress | None = None,
) -> History:
    """Run a fresh optimizer to its end or a limit; a ledger that has events is gone on with.

    Trials that are out when it ends are stopped, and evaluated again if the run goes on later. Ctrl-C ends it, too,
    with what came back so far; a second one at once. retries: of a trial whose worker died. The executor stays open.
    """
    loop = _Loop(optimizer, objective, executor, n_workers, ledger, limits, retries, goal, progress or Quiet())
    loop.begin(start_event(space, settings, goal, default))
    stopped, judged = "failed", None
    try:
        stopped = _reason(loop)
        judged = _judged(optimizer)
        ledger.append(end_event(stopped, judged))
    finally:
        loop.stop(stopped)
        loop.progress.end(stopped)
    records = tuple(sorted(loop.tally.records, key=lambda record: record.trial.number))
    return History(space, records, tuple(loop.stages), goal, default, dict(settings), stopped, judged)


def _judged(optimizer: Optimizer) -> int | None:
    """The number of the best trial, by an optimizer that found that there is noise."""
    trial: Trial | None = getattr(optimizer, "judged", None)
    return None if trial is None else trial.number


def _reason(loop: "_Loop") -> str:
    """Run, and say why it ended."""
    try:
        return loop.go()
    except KeyboardInterrupt:
        return "interrupted"
    except RunFailed as error:
        loop.ledger.append(end_event(str(error).partition("\n")[0]))
        raise


class _Loop:
    """What is out, what came back, and the parts that it passes through. The cost of a trial does not grow."""

    def __init__(
        self,
        optimizer: Optimizer,
        objective: Objective,
        executor: Executor,
        n_workers: int,
        ledger: Ledger,
        limits: Limits,
        retries: int,
        goal: Goal,
        progress: Progress,
    ) -> None:
        self.optimizer, self.executor, self.ledger, self.limits = optimizer, executor, ledger, limits
        self.n_workers, self.retries = check_whole("n_workers", n_workers), check_whole("retries", retries, 0)
        self.goal, self.progress = goal, progress
        self.tally = Tally(goal, limits.target, full_budget(optimizer))
        self.stages: list[Stage] = []  # those in the ledger
        self._task = Task(objective)
        self._flights: dict[Future[Measured], _Flight] = {}
        self._waiting: deque[_Flight] = deque()
        self._stage = ""
        self._n_known = 0  # records that were in the ledger
        self._n_given = len(_stages(optimizer))
        self._start = time.monotonic()

    # ---- start and end ----

    def begin(self, start: Event) -> None:
        """Note the start in an empty ledger; else lead the optimizer to where the run stood."""
        events = iter(self.ledger.read())
        first = next(events, None)
        if first is None:
            self.ledger.append(start)
            return
        check_same(first, start)
        kinds = Counter[str]()
        known = replay(self.optimizer, _counted(events, kinds), self.goal)
        for record in known.records:
            self.tally.add(record)
        self.tally.forgive()
        self._n_known = len(known.records)
        self._waiting.extend(map(_Flight, known.open))
        self.stages += self._learned()[: kinds["stage"]]  # the last one may be missing
        self._log()

    def go(self) -> str:
        """Work until there is a reason to stop."""
        self._start = time.monotonic()
        while not (stopped := self._limit()):
            self._fill()
            self.progress.update(self._status())
            if not self._flights:
                return self._finished()
            self._collect()
        return stopped

    def stop(self, stopped: str) -> None:
        """Nobody waits for what is out: foreign executors finish it, our own workers are killed."""
        for future in self._flights:
            future.cancel()
        if stopped not in FINISHED and isinstance(self.executor, Workers):
            self.executor.kill()

    def _limit(self) -> str:
        if self.tally.reached:
            return "target reached"
        return "time is up" if self.limits.seconds_left(self._elapsed()) <= 0 else ""

    def _elapsed(self) -> float:
        return time.monotonic() - self._start

    def _finished(self) -> str:
        """Nothing is out, and nothing comes."""
        self.tally.check_hope(1)
        if self.optimizer.done:
            return "done"
        if self._room() > 0:
            raise RunFailed("an optimizer must ask for a trial when none is out, or be done, but this one is stuck")
        return "evaluations used up"

    # ---- out ----

    def _fill(self) -> None:
        """Give every worker something to do."""
        self._ask(min(self.n_workers - len(self._flights) - len(self._waiting), self._room()))
        while self._waiting and len(self._flights) < self.n_workers:
            self._submit(self._waiting.popleft())

    def _room(self) -> int:
        """Trials that may still be asked for."""
        asked = len(self.tally.records) + len(self._flights) + len(self._waiting)
        return self.n_workers if self.limits.n_evaluations is None else self.limits.n_evaluations - asked

    def _ask(self, n: int) -> None:
        trials = self.optimizer.ask(n) if n > 0 else []
        self._log(*map(ask_event, trials))
        self._waiting.extend(map(_Flight, trials))

    def _submit(self, flight: _Flight) -> None:
        flight = replace(flight, start=time.monotonic())
        self._stage = flight.trial.stage
        try:
            future = self.executor.submit(self._task, flight.trial.config, flight.trial.budget)
        except BrokenExecutor as error:
            raise _broken(error) from error
        self._flights[future] = flight

    # ---- back ----

    def _collect(self) -> None:
        """Wait for the first, and take all that came by then."""
        left = self.limits.seconds_left(self._elapsed())
        came = wait(self._flights, None if left == math.inf else left, FIRST_COMPLETED).done
        landed = sorted(((self._flights[future], future) for future in came), key=lambda pair: pair[0].trial.number)
        outcomes = [(flight, self._outcome(flight, future)) for flight, future in landed]
        records = [Record(flight.trial, outcome) for flight, outcome in outcomes if outcome is not None]
        again = [replace(flight, attempt=flight.attempt + 1) for flight, outcome in outcomes if outcome is None]
        if records:
            self.ledger.append(*(tell_event(record.trial.number, record.outcome) for record in records))
        for future in came:
            del self._flights[future]
        self._waiting.extend(again)
        self._tell(records)

    def _outcome(self, flight: _Flight, future: Future[Measured]) -> Outcome | None:
        """What came of a trial; None: it is worth another attempt."""
        error = WorkerDied("the executor cancelled it") if future.cancelled() else future.exception()
        if isinstance(error, RunFailed):
            raise error
        if isinstance(error, BrokenExecutor):
            raise _broken(error) from error
        if isinstance(error, WorkerDied) and flight.attempt <= self.retries:
            return None
        if error is None:
            return Outcome(*future.result(), attempts=flight.attempt)
        return Outcome(None, *explained(error), time.monotonic() - flight.start, flight.attempt)

    def _tell(self, records: Sequence[Record]) -> None:
        """The ledger has them; note them first, because learning takes its time and may be interrupted."""
        for record in records:
            self.tally.add(record)
        for record in records:
            self.optimizer.tell(record.trial, signed(record.outcome.value, self.goal))
        self._log()
        self.tally.check_hope(max(HOPELESS, 2 * self.n_workers))

    def _log(self, *events: Event) -> None:
        """Append events, after those of stages that were learned since."""
        learned = self._learned()[len(self.stages) :]
        if learned or events:
            self.ledger.append(*map(stage_event, learned), *events)
        self.stages += learned

    def _learned(self) -> list[Stage]:
        """The stages of the optimizer, without those that it was given."""
        return _stages(self.optimizer)[self._n_given :]

    # ---- progress ----

    def _status(self) -> Status:
        tally, elapsed, n_done = self.tally, self._elapsed(), len(self.tally.records)
        return Status(
            stage=self._stage,
            n_done=n_done,
            n_failed=tally.n_failed,
            n_running=len(self._flights),
            best=None if tally.best is None else tally.best.outcome.value,
            n_evaluations=self.limits.n_evaluations,
            seconds=elapsed,
            seconds_left=self.limits.estimate(elapsed, n_done - self._n_known, n_done),
        )


def _stages(optimizer: Optimizer) -> list[Stage]:
    """Not every optimizer has stages."""
    return list(getattr(optimizer, "stages", ()))


def _counted(events: Iterable[Event], kinds: Counter[str]) -> Iterator[Event]:
    """The events as they are, one at a time: a long run has many."""
    for event in events:
        kinds[event["kind"]] += 1
        yield event


def _broken(error: BrokenExecutor) -> RunFailed:
    """No trial's fault, so none is counted as failed; which one was the cause, nobody can tell."""
    return RunFailed(
        f"the executor must be able to go on, but it broke: {type(error).__name__}: {error}\n"
        "Make a new one and run again: with a ledger the run goes on. Workers of Overtone survive crashes."
    )
