"""The summary as Markdown."""

from math import isfinite

from benchmarks.measure import table
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.player import MODES
from benchmarks.search.problem import Value
from benchmarks.search.problems import HELD_OUT, PROBLEMS, problem
from benchmarks.search.summary import (
    CLEAR,
    CLIMBER,
    ENOUGH,
    OURS,
    RANDOM,
    REPORTED,
    RIVAL,
    Score,
    Summary,
    claim,
    shares,
    tied,
    times,
    worst_gap,
)

NONE = "-"  # did not take part, or had no answer yet


def markdown(summary: Summary) -> str:
    """Everything, a section a question."""
    parts = [section(summary) for section in (wins, clear, gaps, seconds, paper)]
    parts += [by_mode(summary, mode) for by_mode in (overview, details) for mode in MODES]
    return "\n\n".join(parts) + "\n"


def wins(summary: Summary) -> str:
    """Who is best or tied how often."""
    columns = [(m, w, h) for m in MODES for h in (False, True) for w in ("25%", "50%", "100%", *_rounds(m))]
    counts = {column: shares(summary, column[0], column[1], column[2]) for column in columns}
    names = [name for name in CONTESTANTS if any(name in count for count in counts.values())]
    sections = []
    for mode in MODES:
        for held_out in (False, True):
            mine = [column for column in columns if (column[0], column[2]) == (mode, held_out)]
            rows = [[name, *(_share(counts[column].get(name)) for column in mine)] for name in names]
            kind = "held-out problems" if held_out else "development problems"
            n = len(summary.cells(mode, held_out))
            head = ["contestant", *(_head(what) for _, what, _ in mine)]
            sections.append(f"Best or tied, {mode}, {n} {kind}:\n\n{table(head, rows)}")
    return "\n\n".join(sections)


def _rounds(mode: str) -> tuple[str, ...]:
    return ("same rounds",) if MODES[mode] > 1 else ()  # type: ignore[index]


def _head(what: str) -> str:
    return "after full rounds" if what == "same rounds" else f"at {what} of B"


def _share(count: tuple[int, int] | None) -> str:
    return NONE if count is None else f"{count[0] / count[1]:.0%} ({count[0]} of {count[1]})"


def clear(summary: Summary) -> str:
    """Who is clearly better or worse than the automatic recipe, and not just by the luck of the seeds."""
    rows = []
    for mode in MODES:
        for name in CONTESTANTS:
            mine = {p: verdict for (p, m, c), verdict in summary.verdicts.items() if (m, c) == (mode, name)}
            if mine:
                counts = [list(mine.values()).count(verdict) for verdict in ("behind", "even", "ahead")]
                ahead = ", ".join(sorted(p for p, verdict in mine.items() if verdict == "ahead"))
                rows.append([mode, name, *counts, ahead or NONE])
    head = ["mode", "contestant", "clearly behind", "no clear difference", "clearly ahead", "ahead on"]
    return (
        f"On how many problems a contestant is clearly behind or ahead of {OURS} at 100 % of B: rank test over the "
        f"seeds, a chance of {CLEAR:.0%} each, at least {ENOUGH} seeds of both:\n\n{table(head, rows)}"
    )


def gaps(summary: Summary) -> str:
    """How much worse than hill climbing and random search, at worst."""
    rows = []
    for mode in MODES:
        for name in CONTESTANTS:
            cells = []
            for held_out in (False, True):
                for rival in (CLIMBER, RANDOM):
                    gap, where = worst_gap(summary, name, rival, mode, held_out)
                    cells.append(f"{gap:+.1f} ({where})" if isfinite(gap) else NONE)
            if set(cells) != {NONE}:
                rows.append([mode, name, *cells])
    head = ["mode", "contestant", *(f"against {r}{h}" for h in ("", ", held out") for r in (CLIMBER, RANDOM))]
    return (
        "How much worse than hill climbing and random search at worst, at 100 % of B, in percent of the spread between "
        f"random search and the best known (on which problem); below zero: better everywhere:\n\n{table(head, rows)}"
    )


def seconds(summary: Summary) -> str:
    """Optimizer time beside Optuna's."""
    rows = []
    for name in CONTESTANTS:
        found = [(share, f"{p}, {m}") for m in MODES for p, share in times(summary, name, m)]
        if found and name != RIVAL:
            worst = max(found)
            middle = sorted(share for share, _ in found)[len(found) // 2]
            rows.append([name, f"{middle:.1%}", f"{worst[0]:.1%} ({worst[1]})"])
    head = ["contestant", "median", "most"]
    return f"Optimizer CPU time as a share of that of {RIVAL}, problems of at least 60 units:\n\n{table(head, rows)}"


def paper(summary: Summary) -> str:
    """The claim of the paper."""
    found = claim(summary)
    holds = sum(mine is not None and theirs is not None and mine <= theirs for _, mine, theirs in found)
    rows = [[name, _number(mine), _number(theirs)] for name, mine, theirs in found]
    return (
        "The paper's claim: Harmonica-1 is at least as good as random search with eight times the evaluations on "
        f"{holds} of {len(found)} problems (medians):\n\n{table(['problem', 'Harmonica-1', 'random search 8x'], rows)}"
    )


def overview(summary: Summary, mode: str) -> str:
    """A row a problem, a column a contestant: how far from the best known, in percent of the spread."""
    names = [name for name in CONTESTANTS if any(c == name and m == mode for _, m, c in summary.scores)]
    rows = []
    for name in summary.cells(mode):
        best = tied(summary, name, mode)
        cells = [_gap(summary, summary.scores.get((name, mode, c)), bold=c in best) for c in names]
        rows.append([f"{name} (held out)" if name in HELD_OUT else name, *cells])
    return (
        f"Gap to the best known at 100 % of B, {mode}: 0 is the best known, 100 is where random search ends; bold: "
        f"best or tied; {NONE}: did not take part; *: ran out of wall time\n\n" + table(["problem", *names], rows)
    )


def _gap(summary: Summary, score: Score | None, *, bold: bool) -> str:
    if score is None:
        return NONE
    gap = summary.gap(score, score.at["100%"])
    text = f"{gap:.1f}" if isfinite(gap) else "∞"
    return (f"**{text}**" if bold else text) + "*" * (score.capped > 0)


def details(summary: Summary, mode: str) -> str:
    """Every cell with its values, quartiles, seconds and rounds."""
    rows = []
    for name in summary.cells(mode):
        for contestant in CONTESTANTS:
            score = summary.scores.get((name, mode, contestant))
            rows.append([name, contestant, *(_cells(score) if score else [NONE] * (len(REPORTED) + 4))])
    head = ["problem", "contestant", *(f"{s:.0%}" for s in REPORTED), "quartiles at 100%", "seconds", "rounds", "seeds"]
    return f"Median true value of the answer, {mode}:\n\n{table(head, rows)}"


def _cells(score: Score) -> list[str]:
    values = [_number(score.at[f"{share:.0%}"]) for share in REPORTED]
    seeds = f"{score.seeds}, {score.capped} out of time" if score.capped else str(score.seeds)
    quartiles = f"{_number(score.low)} to {_number(score.high)}"
    return [*values, quartiles, f"{score.seconds:.2g}", f"{score.rounds:.0f}", seeds]


def _number(value: Value) -> str:
    return NONE if value is None else f"{value:.5g}"


def problem_table() -> str:
    """What is searched."""
    rows = []
    for key in PROBLEMS:
        each = problem(key)
        kind = ("real" if each.is_real else "synthetic") + (", held out" if key in HELD_OUT else "")
        notes = [f"noise {each.noise:.2g}"] if each.noise else (["noise of its own"] if each.measure else [])
        notes += ["budgets"] if each.full_budget else []
        notes += ["forbidden combinations"] if each.space.forbid else []
        rows.append([key, each.name, kind, len(each.space.parameters), each.n, each.n_evaluations, ", ".join(notes)])
    return table(["problem", "what", "kind", "parameters", "units n", "B", "notes"], rows)


def contestant_table() -> str:
    """Who searches."""
    rows = []
    for each in CONTESTANTS.values():
        absent = sorted({why for key in PROBLEMS if (why := each.skips(problem(key)))})
        rows.append([each.name, each.package, each.about, "; ".join(absent) or "plays everywhere"])
    return table(["contestant", "package", "settings", "where not"], rows)
