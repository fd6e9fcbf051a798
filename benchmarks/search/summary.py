"""From rows of results to what the contest says: medians, who is best or tied, gaps, times."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import ceil, inf, isfinite
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from benchmarks.search.arena import ANY, SHARES, in_flight
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.player import MODES
from benchmarks.search.problem import Value
from benchmarks.search.problems import HELD_OUT, problem
from benchmarks.search.store import Row

REPORTED = (0.25, 0.5, 1.0)
TIE = 0.001  # of the spread between random search and the best known
OURS, RANDOM, CLIMBER, RIVAL = "overtone (automatic)", "random search", "hill climbing", "Optuna TPE"
CLEAR, ENOUGH = 0.01, 10  # chance below which a difference over the seeds is clear; seeds that both must have
LARGE = 60  # units from which on times are compared
Cell = tuple[str, str, str]  # (problem, mode, contestant)


@dataclass(frozen=True)
class Score:
    """A cell over its seeds; true values of the answers. None: most seeds had no answer yet."""

    problem: str
    mode: str
    contestant: str
    seeds: int
    at: dict[str, Value]  # median at each reported share
    low: Value  # quartiles at the end
    high: Value
    curve: list[Value]  # median at each of SHARES
    same_rounds: Value  # median after as many rounds as full ones would need
    seconds: float
    rounds: float
    capped: int  # seeds that ran out of wall time


@dataclass(frozen=True)
class Summary:
    """All cells, and what makes them comparable."""

    scores: dict[Cell, Score]
    best_known: dict[str, float]
    spread: dict[tuple[str, str], float]  # (problem, mode): from the best known to random search
    verdicts: dict[Cell, str]  # over the seeds, beside the automatic recipe: "ahead", "behind" or "even"

    def gap(self, score: Score, value: Value) -> float:
        """0: the best known; 100: where random search ends. More is worse."""
        spread = self.spread.get((score.problem, score.mode), 0.0)
        above = inf if value is None else value - self.best_known[score.problem]
        return 100 * above / spread if spread > 0 else (0.0 if above <= 0 else inf)

    def cells(self, mode: str, held_out: bool | None = None) -> list[str]:
        """Problems that were run in a mode."""
        names = dict.fromkeys(p for p, m, _ in self.scores if m == mode)
        return [name for name in names if held_out is None or (name in HELD_OUT) == held_out]


def summarize(rows: Sequence[Row]) -> Summary:
    groups: dict[Cell, list[Row]] = defaultdict(list)
    for row in rows:
        for mode in MODES if row["mode"] == ANY else (row["mode"],):
            known = "at_once" if row["mode"] == ANY and MODES[mode] == 1 else "at_share"
            groups[row["problem"], mode, row["contestant"]].append({**row, "at_share": row[known]})
    scores = {cell: _score(cell, mine) for cell, mine in groups.items()}
    best = _best_known(rows)
    return Summary(scores, best, _spread(scores, best), _verdicts(groups))


def _verdicts(groups: dict[Cell, list[Row]]) -> dict[Cell, str]:
    """By a rank test of the answers at the end, where both have enough seeds."""
    ends = {cell: [inf if (v := row["at_share"][-1]) is None else v for row in rows] for cell, rows in groups.items()}
    found = {}
    for (name, mode, contestant), theirs in ends.items():
        mine = ends.get((name, mode, OURS), [])
        if contestant != OURS and is_equal_footing(contestant) and min(len(mine), len(theirs)) >= ENOUGH:
            better, worse = (mannwhitneyu(theirs, mine, alternative=side).pvalue for side in ("less", "greater"))
            found[name, mode, contestant] = "ahead" if better < CLEAR else "behind" if worse < CLEAR else "even"
    return found


def with_earlier(summary: Summary, earlier: dict[str, Any]) -> Summary:
    """Cells of which an earlier summary, `plain` of it, has more seeds than were run here stay as they are there."""
    scores = dict(summary.scores)
    for score in (Score(**score) for score in earlier["scores"]):
        cell = score.problem, score.mode, score.contestant
        scores[cell] = max(scores.get(cell, score), score, key=lambda each: each.seeds)
    best = {
        name: min(known.get(name, inf) for known in (summary.best_known, earlier["best_known"]))
        for name in summary.best_known | earlier["best_known"]
    }
    known = {(row["problem"], row["mode"], row["contestant"]): row["verdict"] for row in earlier.get("verdicts", [])}
    return Summary(scores, best, _spread(scores, best), known | summary.verdicts)


def _spread(scores: dict[Cell, Score], best: dict[str, float]) -> dict[tuple[str, str], float]:
    return {(p, m): (score.at["100%"] or 0.0) - best[p] for (p, m, c), score in scores.items() if c == RANDOM}


def _score(cell: Cell, rows: Sequence[Row]) -> Score:
    curve = [_quantile((row["at_share"][i] for row in rows), 0.5) for i in range(len(SHARES))]
    final = [row["at_share"][-1] for row in rows]
    return Score(
        *cell,
        seeds=len(rows),
        at={f"{share:.0%}": curve[SHARES.index(share)] for share in REPORTED},
        low=_quantile(final, 0.25),
        high=_quantile(final, 0.75),
        curve=curve,
        same_rounds=_quantile((_after_rounds(row) for row in rows), 0.5),
        seconds=float(np.median([row["seconds"] for row in rows])),
        rounds=float(np.median([row["rounds"] for row in rows])),
        capped=sum(row["capped"] for row in rows),
    )


def _after_rounds(row: Row) -> Value:
    """After as many rounds as it takes if all are full."""
    rounds = ceil(row["budget"] / in_flight(row["budget"], row["mode"]))
    return row["at_round"][:rounds][-1] if row["at_round"] else None


def _quantile(values: Iterable[Value], share: float) -> Value:
    """No answer is worse than any."""
    known = [inf if value is None else value for value in values]
    found = float(np.quantile(known, share, method="linear" if all(map(isfinite, known)) else "nearest"))
    return found if isfinite(found) else None


def _best_known(rows: Sequence[Row]) -> dict[str, float]:
    """The optimum, if it is known, or the least true value of any answer of anybody."""
    best: dict[str, float] = {}
    for row in rows:
        name = row["problem"]
        optimum = problem(name).optimum
        known = [v for v in (*row["at_share"], *row["at_round"], optimum) if v is not None]
        best[name] = min([best.get(name, inf), *known])
    return best


# who wins


def is_equal_footing(contestant: str) -> bool:
    """It has the same evaluations as the others."""
    return CONTESTANTS[contestant].factor == 1


def tied(summary: Summary, name: str, mode: str, what: str = "100%") -> list[str]:
    """Whose median is within a thousandth of the spread of the best median."""
    medians = {
        c: value
        for (p, m, c), score in summary.scores.items()
        if (p, m) == (name, mode) and is_equal_footing(c) and (value := _at(score, what)) is not None
    }
    if not medians:
        return []
    best = min(medians.values())
    limit = best + TIE * max(0.0, summary.spread.get((name, mode), 0.0)) + 1e-9 * abs(best)
    return [c for c, value in medians.items() if value <= limit]


def _at(score: Score, what: str) -> Value:
    return score.same_rounds if what == "same rounds" else score.at[what]


def shares(summary: Summary, mode: str, what: str = "100%", held_out: bool | None = None) -> dict[str, tuple[int, int]]:
    """For each contestant: in how many problems it is best or tied, of how many it took part in."""
    counts: dict[str, list[int]] = {name: [0, 0] for name in CONTESTANTS if is_equal_footing(name)}
    for name in summary.cells(mode, held_out):
        winners = tied(summary, name, mode, what)
        for contestant, count in counts.items():
            if (name, mode, contestant) in summary.scores:
                count[0] += contestant in winners
                count[1] += 1
    return {name: (wins, of) for name, (wins, of) in counts.items() if of}


def worst_gap(
    summary: Summary, contestant: str, rival: str, mode: str, held_out: bool | None = None
) -> tuple[float, str]:
    """By how much of the spread a contestant's median ends above a rival's, in percent, at worst; and on which problem.

    Below zero: it is better everywhere.
    """
    gaps = [(-inf, "-")]
    for name in summary.cells(mode, held_out):
        mine, theirs = (summary.scores.get((name, mode, c)) for c in (contestant, rival))
        if mine and theirs:
            a, b = (summary.gap(score, score.at["100%"]) for score in (mine, theirs))
            gaps.append((a - b if isfinite(a) or isfinite(b) else 0.0, name))
    return max(gaps)


def times(summary: Summary, contestant: str, mode: str) -> list[tuple[str, float]]:
    """Optimizer seconds as a share of those of Optuna's multivariate sampler, on problems of at least 60 units."""
    found = []
    for name in summary.cells(mode):
        mine, theirs = (summary.scores.get((name, mode, c)) for c in (contestant, RIVAL))
        if mine and theirs and problem(name).n >= LARGE and theirs.seconds > 0:
            found.append((name, mine.seconds / theirs.seconds))
    return found


def claim(summary: Summary) -> list[tuple[str, Value, Value]]:
    """The paper's claim: Harmonica-1 against random search with eight times the evaluations, medians."""
    mode = next(iter(MODES))
    rows = []
    for name in summary.cells(mode):
        mine, theirs = (summary.scores.get((name, mode, c)) for c in ("Harmonica-1 (paper)", "random search 8x"))
        if mine and theirs:
            rows.append((name, mine.at["100%"], theirs.at["100%"]))
    return rows


def plain(summary: Summary) -> dict[str, Any]:
    """As data for JSON."""
    return {
        "best_known": summary.best_known,
        "spread": [{"problem": p, "mode": m, "spread": s} for (p, m), s in summary.spread.items()],
        "scores": [asdict(score) for score in summary.scores.values()],
        "verdicts": [
            {"problem": p, "mode": m, "contestant": c, "verdict": verdict}
            for (p, m, c), verdict in summary.verdicts.items()
        ],
    }
