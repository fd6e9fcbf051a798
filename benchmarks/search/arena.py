"""One cell of the contest: a contestant on a problem, in a mode, with a seed."""

import math
import resource
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.search.cache import Cached
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.player import Contestant, Mode, Move, Player
from benchmarks.search.problem import Problem, Value, key
from benchmarks.search.problems import problem as make_problem
from overtone.space import Config

SHARES = tuple(
    i / 8 for i in range(1, 9)
)  # of the evaluations, at which the answer is judged: 25, 50, 100 % among them
ANY = "any"  # the mode of contestants that do the same in every mode
WIDTH, N_ROUNDS = 100, 4  # trials in flight, at most; rounds, at least


class TimeUpError(Exception):
    """The wall time of a cell is used up."""


@dataclass
class Match:
    """The evaluations so far, and what the player would answer."""

    problem: Problem
    judge: Cached
    player: Player
    limit: float  # evaluations at the full budget that it may spend
    seed: int
    most: int | None = None  # evaluations after which it stops, and keeps its answer
    spent: float = 0.0
    n_evaluations: int = 0
    n_failed: int = 0
    rounds: int = 0
    seconds: float = 0.0  # CPU time of the player, not of the objective
    objective_seconds: float = 0.0  # CPU time of the objective, programs that it starts included
    at_share: list[Value] = field(default_factory=list)  # true values of the answers, one for each of SHARES
    at_once: list[Value] = field(default_factory=list)  # the same if every result is known at once; of mode ANY only
    at_round: list[Value] = field(default_factory=list)  # after each of the first limit/W rounds
    _best: tuple[float, float, Config] | None = None  # (-budget, value, configuration)
    _draws: Counter[str] = field(default_factory=Counter)

    def play(self, W: int, *, both: bool) -> None:
        """Rounds of up to W trials until the evaluations are used up, or the player has nothing more to try.

        both: the player does the same in every mode, so that one run is judged for both.
        """
        while self.limit - self.spent > 1e-9 and self.n_evaluations < (self.most or math.inf):
            with self._timed():
                moves = self.player.ask(min(W, math.ceil(self.limit - self.spent - 1e-9)))
            if not moves:
                break
            # what is known before the round ends is what was known before it
            self._mark(self.at_share, self.spent + sum(map(self._cost, moves)))
            if both:
                for move in moves:
                    self._mark(self.at_once, self.spent + self._cost(move))
                    self._told([move])
            else:
                self._told(moves)
            self.rounds += 1
            if W > 1 and self.rounds <= math.ceil(self.limit / W):
                self.at_round.append(self._answer())
        self.end(both=both)

    def end(self, *, both: bool) -> None:
        """The answer stays as it is."""
        for marks in (self.at_share, self.at_once) if both else (self.at_share,):
            self._mark(marks, math.inf)

    def _told(self, moves: list[Move]) -> None:
        start = cpu_seconds()
        results = [(move, self._evaluate(move)) for move in moves]
        self.objective_seconds += cpu_seconds() - start
        self.spent += sum(map(self._cost, moves))
        with self._timed():
            self.player.tell(results)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Time of the player, also of what it did not finish."""
        start = time.process_time()
        try:
            yield
        finally:
            self.seconds += time.process_time() - start

    def _cost(self, move: Move) -> float:
        full = self.problem.full_budget
        return 1.0 if full is None or move.budget is None else move.budget / full

    def _evaluate(self, move: Move) -> Value:
        name = key(move.config)
        draw = 1000 * self.seed + self._draws[name]
        self._draws[name] += 1
        budget = move.budget if move.budget is not None else self.problem.full_budget
        allowed = self.problem.space.allows(move.config)  # else it is a failure, whoever proposes it
        value = self.judge.value(move.config, budget, draw) if allowed else None
        self.n_evaluations += 1
        self.n_failed += value is None
        if value is not None:
            ranked = -(budget or 0.0), value
            self._best = (*ranked, move.config) if self._best is None or ranked < self._best[:2] else self._best
        return value

    def _mark(self, marks: list[Value], spent: float) -> None:
        """Judge the answer at every share that is passed."""
        passed = [share for share in SHARES[len(marks) :] if share * self.limit < spent - 1e-9]
        marks += [self._answer()] * len(passed) if passed else []

    def _answer(self) -> Value:
        """The true value of the player's own answer, or else of the best value it was told, at the largest budget."""
        config = self.player.best() if self.problem.is_noisy else None
        if config is None and self._best is not None:
            config = self._best[2]
        return None if config is None else self.judge.true(config)


def play(
    name: str, contestant: str, mode: str, seed: int, cap: float, n_evaluations: int | None = None
) -> dict[str, Any]:
    """A row of results; `capped` if the wall time was used up before the evaluations were."""
    problem, who = make_problem(name), CONTESTANTS[contestant]
    if n_evaluations is not None:
        problem = replace(problem, n_evaluations=n_evaluations)
    judge = Cached(name, problem)
    try:
        match, capped = _played(problem, who, judge, mode, seed, cap)
    finally:
        judge.close()
    return {
        "problem": name,
        "contestant": contestant,
        "mode": mode,
        "seed": seed,
        "budget": problem.n_evaluations,
        "at_share": match.at_share,
        "at_once": match.at_once,
        "at_round": match.at_round,
        "evaluations": match.n_evaluations,
        "failed": match.n_failed,
        "rounds": match.rounds,
        "seconds": round(match.seconds, 4),
        "objective_seconds": round(match.objective_seconds, 4),
        "capped": capped,
    }


def _played(problem: Problem, who: Contestant, judge: Cached, mode: str, seed: int, cap: float) -> tuple[Match, bool]:
    W = in_flight(problem.n_evaluations, mode)
    start = time.process_time()
    match = Match(problem, judge, who.make(problem, seed, W), who.factor * problem.n_evaluations, seed, who.most)
    match.seconds = time.process_time() - start
    try:
        with _limited(cap):
            match.play(W, both=mode == ANY)
    except TimeUpError:
        match.end(both=mode == ANY)
        return match, True
    return match, False


def in_flight(n_evaluations: int, mode: str) -> int:
    """W: 100, but at most a quarter of the evaluations: with fewer rounds than four there is nothing to learn from.

    A contestant that does the same in every mode is asked for such rounds, too.
    """
    return 1 if mode == "one at a time" else max(2, min(WIDTH, n_evaluations // N_ROUNDS))


def cpu_seconds() -> float:
    """Of this process, and of those that it started and that ended."""
    mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeUpError after so many seconds of wall time; again every second, should somebody have swallowed it."""

    def ring(_signal: int, _frame: object) -> None:
        raise TimeUpError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def cells_of(contestant: str, modes: list[Mode]) -> list[str]:
    """The modes in which a contestant is really run."""
    who = CONTESTANTS[contestant]
    return [ANY] if who.any_mode else [mode for mode in modes if mode in who.modes]
