"""`HarmonicaSearch`: any of our optimizers as a search algorithm of Ray Tune.

What happened is a list of events, as in a ledger; the optimizer is what they lead to. So it can be pickled, saved as
JSON, and restored by replay: no pickle is read.
"""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ray.tune.result import DEFAULT_METRIC, TIME_TOTAL_S
from ray.tune.search import Searcher

from overtone.adapters.ray.domains import Domains, searches
from overtone.errors import InputError, LedgerError
from overtone.optimizers import Base, Harmonica, Optimizer, Trial
from overtone.optimizers.trial import check_whole, finite, full_budget
from overtone.running.journal import (
    ask_event,
    check_same,
    end_event,
    read_history,
    replay,
    signed,
    stage_event,
    start_event,
    tell_event,
)
from overtone.running.ledger import Event
from overtone.running.record import Goal, Outcome
from overtone.space import Space
from overtone.tuning import Result, described

logger = logging.getLogger(__name__)


@dataclass
class _Live:
    """Where the events lead to."""

    optimizer: Optimizer
    open: dict[str, Trial]  # by Ray's id
    waiting: list[Trial]  # asked for before a restore, and nobody's since: to be handed out again
    samples: set[str]  # Ray's ids of the trials that are samples of a stage of Harmonica


class HarmonicaSearch(Searcher):  # type: ignore[misc]
    """Harmonica, or another optimizer of ours, for `TuneConfig(search_alg=...)`.

    space: a `Space`, or a dict with Ray's domains; automatic: the `param_space` of the tuner.
    optimizer: (space, seed) -> an optimizer, as `Hyperband` or `partial(Harmonica, n_samples=100)`.
    metric, mode: what is reported, and "min" or "max"; automatic: those of the `TuneConfig`.
    budget: where a trial finds its budget in its configuration, if the optimizer gives it one.
    A trial counts with its last report. It failed if it raised, or if that is not a finite number.
    """

    CKPT_FILE_TMPL = "searcher-state-{}.json"
    _metric: str | None
    _mode: str | None

    def __init__(
        self,
        space: Space | Mapping[str, Any] | None = None,
        *,
        optimizer: Base = Harmonica,
        metric: str | None = None,
        mode: str | None = None,
        seed: int = 0,
        budget: str = "budget",
    ) -> None:
        if not callable(optimizer):
            raise InputError(
                f"`optimizer` must be what makes one, (space, seed) -> optimizer, but got {optimizer!r}: "
                "write RandomSearch, or partial(RandomSearch, n_evaluations=100)"
            )
        _check_measure(metric, mode)
        super().__init__(metric, mode)
        self._domains = None if space is None else Domains.of(space)
        self._make, self._seed, self._budget = optimizer, check_whole("seed", seed, 0), budget
        self._events: list[Event] = []
        self._saved: Event | None = None  # the start of the run that was restored
        self._live: _Live | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what the events lead to."""
        return {**self.__dict__, "_live": None}

    # ---- what Ray calls ----

    def set_search_properties(self, metric: str | None, mode: str | None, config: Mapping[str, Any], **_: Any) -> bool:
        """Take over what the tuner was given; False if it has a space to search, and this one too, but another."""
        _check_measure(metric, mode)
        self._metric, self._mode = metric or self._metric, mode or self._mode
        if self._domains is None:
            self._domains = Domains.of(config)
            return True
        return not searches(config) or Domains.of(config).fits(self._domains)

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """The next trial; None while there is none before some that are out come back; FINISHED when all is done."""
        live = self._now()
        if live.waiting:
            trial = live.waiting.pop(0)
            self._events.append({"kind": "again", "number": trial.number, "trial_id": trial_id})
        else:
            asked = live.optimizer.ask(1)
            if not asked:
                return str(Searcher.FINISHED) if live.optimizer.done else None
            trial = asked[0]
            self._events.append({**ask_event(trial), "trial_id": trial_id})
        live.open[trial_id] = trial
        if _is_sample(trial.stage):
            live.samples.add(trial_id)
        config = self._known.config(trial.config)
        return config if trial.budget is None else {**config, self._budget: trial.budget}

    def on_trial_complete(self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False) -> None:
        """Note what came of a trial; a second try of one that came back before changes nothing."""
        live = self._now()
        trial = live.open.pop(trial_id, None)
        if trial is None:
            logger.info("trial %s is not open: what came of it is not learned from", trial_id)
            return
        outcome = self._outcome(result or {}, error)
        self._events.append(tell_event(trial.number, outcome))
        live.optimizer.tell(trial, signed(outcome.value, self._goal))

    def save(self, checkpoint_path: str) -> None:
        """All that happened, as JSON."""
        start = self._saved if self._domains is None else self._start()
        Path(checkpoint_path).write_text(json.dumps({"start": start, "events": self._events}), encoding="utf-8")

    def restore(self, checkpoint_path: str) -> None:
        """Go on in another tuner: trials that were out are handed out again, under new ids."""
        self._load(Path(checkpoint_path), {"kind": "lost"})

    def restore_from_dir(self, checkpoint_dir: str) -> None:
        """Go on with `Tuner.restore`, which calls this: trials that were out are out still, Ray starts them again."""
        files = sorted(Path(checkpoint_dir).glob(self.CKPT_FILE_TMPL.format("*")))
        if not files:
            raise LedgerError(f"there must be a {self.CKPT_FILE_TMPL.format('*')} in {checkpoint_dir}, but none is")
        self._load(files[-1])

    # ---- what came of it ----

    def is_sample(self, trial_id: str) -> bool:
        """The trial is a sample of a stage of Harmonica, and not of its base or another optimizer."""
        return trial_id in self._now().samples

    @property
    def result(self) -> Result:
        """What came of it so far: `best`, `trials`, `stages`, `report()`."""
        optimizer = self._now().optimizer
        stages = map(stage_event, getattr(optimizer, "stages", ()))
        end = [end_event("done")] if optimizer.done else []
        return Result(read_history([self._start(), *self._events, *stages, *end]))

    # ---- events ----

    @property
    def _known(self) -> Domains:
        if self._domains is None:
            raise InputError(
                "there must be something to search: give the tuner a `param_space` with domains as tune.choice, "
                "or HarmonicaSearch a `space`"
            )
        return self._domains

    @property
    def _goal(self) -> Goal:
        return "maximize" if self._mode == "max" else "minimize"

    @property
    def _measure(self) -> str:
        """What is optimized; Ray's name for what a trainable returns, if only a mode was given."""
        if self._mode is None:
            raise InputError(
                f"`metric` and `mode` must be given, but got {self._metric!r} and {self._mode!r}: give them to "
                "HarmonicaSearch, which a tuner without a `param_space` tells nothing, or to the TuneConfig"
            )
        return str(self._metric or DEFAULT_METRIC)

    def _outcome(self, result: Mapping[str, Any], error: bool) -> Outcome:
        value = None if error else finite(result.get(self._measure))
        reason = "it raised an error" if error else f"its last {self._measure} is {result.get(self._measure)!r}"
        return Outcome(value, "" if value is not None else reason, "", finite(result.get(TIME_TOTAL_S)) or 0.0)

    def _start(self) -> Event:
        space = self._known.space
        settings = {
            "seed": self._seed,
            "optimizer": described(self._make),
            "metric": self._measure,
            "full_budget": full_budget(self._make(space, self._seed)),
            "version": version("overtone"),
        }
        return start_event(space, settings, self._goal, None)

    def _load(self, file: Path, *more: Event) -> None:
        try:
            data = json.loads(file.read_bytes())
            self._saved, self._events, self._live = data["start"], [*data["events"], *more], None
        except (ValueError, KeyError, TypeError) as error:
            raise LedgerError(
                f"{file} must be what HarmonicaSearch saved, but {type(error).__name__}: {error}"
            ) from None
        if self._domains is not None and self._mode is not None:
            self._now()  # so that it is refused here if it is of another run

    def _now(self) -> _Live:
        """The optimizer after all events, and whose its open trials are."""
        if self._live is None:
            start = self._start()
            check_same(self._saved or start, start)
            if self._budget in self._known.space.parameters:
                raise InputError(f"`budget` must be no parameter's name, but got {self._budget!r}: choose another one")
            optimizer = self._make(self._known.space, self._seed)
            trials = {trial.number: trial for trial in replay(optimizer, self._events, self._goal).open}
            self._live = _owned(self._events, optimizer, trials)
        return self._live


def _check_measure(metric: object, mode: object) -> None:
    if not isinstance(metric, str | None) or mode not in (None, "min", "max"):
        raise InputError(
            f"`metric` must be one name and `mode` 'min' or 'max', but got {metric!r} and {mode!r}: "
            "there is one objective"
        )


def _is_sample(stage: str) -> bool:
    return stage.startswith("stage ")  # as Harmonica names them; the parts of other optimizers have other names


def _owned(events: Iterable[Event], optimizer: Optimizer, trials: Mapping[int, Trial]) -> _Live:
    """Whose the trials are that are out."""
    samples, owners = set[str](), dict[int, str]()  # numbers of samples, Ray's id of each number
    numbers = set[int]()
    for event in events:
        if event["kind"] == "ask" and _is_sample(event["stage"]):
            numbers.add(event["number"])
        if event["kind"] in ("ask", "again"):
            owners[event["number"]] = event["trial_id"]
            samples |= {event["trial_id"]} if event["number"] in numbers else set()
        elif event["kind"] == "lost":
            owners = {}
    mine = {owners[number]: trial for number, trial in trials.items() if number in owners}
    return _Live(optimizer, mine, [trial for number, trial in sorted(trials.items()) if number not in owners], samples)
