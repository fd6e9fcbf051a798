"""`FullStages`: early stopping for the base optimizer only."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ray.tune.schedulers import AsyncHyperBandScheduler, FIFOScheduler, MedianStoppingRule

from overtone.adapters.ray.search import HarmonicaSearch
from overtone.errors import InputError

Controller = Any  # what Ray hands to a scheduler: its controller,
RayTrial = Any  # and its trial


class FullStages(FIFOScheduler):  # type: ignore[misc]
    """Ray's ASHA or median stopping, but every sample of a stage runs in full.

    A stage compares its samples, so all must have had the same. Each is scheduled by a copy of the scheduler that knows
    no other trial: it is never worse than others, and still ends after `max_t`. The scheduler itself never hears of it,
    so trials of the base are compared among themselves.
    """

    def __init__(self, scheduler: Any, search: HarmonicaSearch) -> None:
        if not isinstance(scheduler, AsyncHyperBandScheduler | MedianStoppingRule):
            raise InputError(
                "`scheduler` must be one that only stops trials, ASHAScheduler or MedianStoppingRule, but got "
                f"{scheduler!r}"
            )
        if not isinstance(search, HarmonicaSearch):
            raise InputError(f"`search` must be the HarmonicaSearch itself, without a limiter, but got {search!r}")
        super().__init__()
        self._scheduler, self._search = scheduler, search
        self._fresh = deepcopy(scheduler)
        self._alone: dict[str, Any] = {}  # the scheduler of each sample, by Ray's id

    @property
    def metric(self) -> str | None:
        """That of the scheduler."""
        name: str | None = self._scheduler.metric
        return name

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        """Hand on what the tuner was given."""
        return all(each.set_search_properties(metric, mode, **spec) for each in (self._scheduler, self._fresh))

    def _of(self, trial: RayTrial) -> Any:
        return self._alone.get(trial.trial_id, self._scheduler)

    def on_trial_add(self, tune_controller: Controller, trial: RayTrial) -> None:
        """A sample gets a scheduler of its own."""
        if self._search.is_sample(trial.trial_id):
            self._alone[trial.trial_id] = deepcopy(self._fresh)
        self._of(trial).on_trial_add(tune_controller, trial)

    def on_trial_error(self, tune_controller: Controller, trial: RayTrial) -> None:
        """Hand on."""
        self._of(trial).on_trial_error(tune_controller, trial)

    def on_trial_result(self, tune_controller: Controller, trial: RayTrial, result: Mapping[str, Any]) -> str:
        """What the scheduler of this trial decides."""
        return str(self._of(trial).on_trial_result(tune_controller, trial, result))

    def on_trial_complete(self, tune_controller: Controller, trial: RayTrial, result: Mapping[str, Any]) -> None:
        """Hand on."""
        self._of(trial).on_trial_complete(tune_controller, trial, result)
        self._alone.pop(trial.trial_id, None)

    def on_trial_remove(self, tune_controller: Controller, trial: RayTrial) -> None:
        """Hand on."""
        self._of(trial).on_trial_remove(tune_controller, trial)
        self._alone.pop(trial.trial_id, None)

    def debug_string(self) -> str:
        """What the scheduler says."""
        return f"Stages in full. {self._scheduler.debug_string()}"
