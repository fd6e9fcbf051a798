"""The report as text for a terminal: short, at most 96 columns, no colors."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from overtone.report import words
from overtone.report.stages import Spread
from overtone.report.summary import Overview, Setting, Summary, summarize
from overtone.report.verdict import verdict
from overtone.running.record import History

WIDTH = 96
INDENT = 14
MOST = 10  # rows of a table


def render(history: History) -> str:
    """What the page says, without its pictures."""
    summary = summarize(history)
    parts = [_verdict, _best, _stages, _features, _importance, _together, _failures]
    shown = ["\n".join(words.literal(line) for line in part(summary)) for part in parts]
    return "\n\n".join(filter(None, shown)) + "\n"


def _verdict(summary: Summary) -> Iterator[str]:
    run = summary.overview
    yield f"Overtone: {run.goal} over {words.count(run.n_parameters, 'parameter')}"
    for what, text in verdict(summary):
        yield from _wrapped(f"{what:{INDENT}}{text}", INDENT)


def _wrapped(text: str, indent: int = 4) -> list[str]:
    return textwrap.wrap(words.literal(text), WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], most: int = MOST) -> Iterator[str]:
    """The first column takes what the others leave; numbers stand on the right."""
    cells = [[words.literal(cell) for cell in row] for row in rows]
    if not cells:
        return
    sizes = [max(len(row[i]) for row in [heads, *cells[:most]]) for i in range(len(heads))]
    sizes[0] = max(8, min(sizes[0], WIDTH - 2 - sum(size + 2 for size in sizes[1:])))
    yield title
    for row in [heads, *cells[:most]]:
        others = (f"{cell:>{size}}" for cell, size in zip(row[1:], sizes[1:], strict=True))
        yield "  ".join([f"  {words.cut(row[0], sizes[0]):{sizes[0]}}", *others]).rstrip()
    if len(cells) > most:
        yield f"  and {len(cells) - most:,} more"


def _best(summary: Summary) -> Iterator[str]:
    has_default = summary.overview.has_default
    settings = [setting for setting in summary.settings if setting.differs]
    heads = ["parameter", "value", *(["default"] if has_default else []), "decided by"]
    title = "Best configuration" + (", where it differs from the default" if has_default else "")
    # what a stage decided comes first: the rest is as it was drawn
    order = sorted(settings, key=lambda setting: setting.decided.stage if setting.decided else len(summary.stages) + 1)
    yield from _table(title, heads, [_setting(setting, summary.overview) for setting in order], 2 * MOST)


def _setting(setting: Setting, run: Overview) -> list[str]:
    value = words.cut(words.value(setting.value), 24) if setting.is_active else "(not active)"
    default = words.cut(words.value(setting.default), 24) if setting.is_in_default else "-"
    decided = f"stage {setting.decided.stage}" if setting.decided else run.otherwise
    return [setting.parameter, value, *([default] if run.has_default else []), decided]


def _stages(summary: Summary) -> Iterator[str]:
    heads = ["stage", "samples", "failed", "mean", "mean after", "fixed", "verdict"]
    rows = [
        [
            str(stage.number),
            f"{stage.n_samples:,}",
            f"{stage.n_failed:,}",
            _mean(stage.before),
            _mean(stage.after),
            str(len(stage.fixed)),
            stage.verdict,
        ]
        for stage in summary.stages
    ]
    yield from _table("Stages", heads, rows)


def _mean(spread: Spread | None) -> str:
    return words.number(None if spread is None else spread.mean)


def _features(summary: Summary) -> Iterator[str]:
    for stage in summary.stages[:MOST]:
        rows = [
            [feature.name, words.number(feature.weight), words.percent(feature.share), words.percent(feature.stability)]
            for feature in stage.features
        ]
        heads = ["feature", "weight", "share", "stable"]
        yield from _table(f"Features of stage {stage.number}", heads, rows, MOST // 2)
        if stage.warning:
            yield from _wrapped(f"  warning: {stage.warning}")
        if stage.fixed:
            fixed = words.listing([f"{fixed.parameter} {fixed.left}" for fixed in stage.fixed], MOST)
            yield from _wrapped(f"  fixed: {fixed}")


def _importance(summary: Summary) -> Iterator[str]:
    rows = [[row.parameter, words.percent(row.first), words.percent(row.total)] for row in summary.headline]
    stage = summary.headline[0].stage if summary.headline else 0
    yield from _table(f"Importance in stage {stage} (Sobol)", ["parameter", "alone", "total"], rows)


def _together(summary: Summary) -> Iterator[str]:
    rows = [
        [f"{pair.one} and {pair.other}", words.percent(pair.share), f"stage {pair.stage}"]
        for pair in summary.pairs
        if pair.is_pair
    ]
    yield from _table("Interactions", ["pair", "share", "in"], rows)


def _failures(summary: Summary) -> Iterator[str]:
    rows = [[group.reason, f"{group.n:,}", f"trial {group.example}"] for group in summary.failures]
    yield from _table("Failures", ["reason", "trials", "such as"], rows)
    crashes = [[crash.combination, f"{crash.n_failed} of {crash.n}"] for crash in summary.crashes]
    yield from _table("Combinations that fail", ["combination", "failed"], crashes)
