"""The plots, as plotly figures of plain lists: readable on a phone, in colors that color-blind people tell apart."""

import html
from collections.abc import Sequence
from typing import Any

from plotly.graph_objects import Bar, Box, Figure, Heatmap, Scatter

from overtone.report import words
from overtone.report.stages import StageSummary
from overtone.report.summary import Part, Step, Summary

BLUE, ORANGE, GREY = "#2a86c4", "#e08214", "#8c8c8c"  # of similar lightness on white and on black
ROW = 42  # pixels a row: the label, and the bar below it
LABEL = 30  # letters that fit beside a number on a phone
MOST_ROWS, MOST_CELLS, MOST_PARTS, MOST_POINTS = 15, 12, 12, 1000


def figures_of(summary: Summary) -> dict[str, Figure]:
    """By name; those that there is nothing to show for are left out."""
    found = {f"spectrum_{stage.number}": _spectrum(stage) for stage in summary.stages if stage.features}
    if any(part.spread for part in summary.parts):
        found["values"] = _values([part for part in summary.parts if part.spread][:MOST_PARTS])
    if summary.headline:
        found["importance"] = _importance(summary)
    if any(pair.is_pair for pair in summary.pairs):
        found["interactions"] = _interactions(summary)
    if summary.steps:
        found["best_so_far"] = _best_so_far(summary)
    if summary.failures:
        found["failures"] = _failures(summary)
    return found


def label(text: str, most: int = LABEL) -> str:
    """The user's text as plotly shows it literally: it reads some HTML, and formulas between dollars."""
    text = html.escape(words.cut(words.literal(text), most), quote=False)  # it knows no &quot;
    return text.replace("$", "&#36;")


def _figure(traces: Sequence[Any], height: int, **layout: Any) -> Figure:
    look: dict[str, Any] = {
        "template": "none",
        "font": {"family": "system-ui, sans-serif", "size": 13},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 10, "r": 16, "t": 30, "b": 44},
        "height": height,
        "showlegend": False,
        "hoverlabel": {"font": {"size": 13}},
    }
    figure = Figure(list(traces), {**look, **layout})
    figure.update_xaxes(automargin=True, title_standoff=8, gridcolor="rgba(128,128,128,0.3)", zerolinecolor=GREY)
    figure.update_yaxes(automargin=True, title_standoff=8, gridcolor="rgba(128,128,128,0.3)", zerolinecolor=GREY)
    return figure


def _rows(traces: Sequence[Any], labels: Sequence[str], notes: Sequence[str], title: str, **layout: Any) -> Figure:
    """Rows from the top, each with its label, and a note on the right, above it: so a phone has room for both."""
    texts = [
        {"x": x, "y": i, "text": text, "xref": "paper", "xanchor": anchor, "yshift": 17, "showarrow": False}
        for i, both in enumerate(zip(labels, notes, strict=True))
        for text, x, anchor in zip(both, (0, 1), ("left", "right"), strict=True)
    ]
    figure = _figure(traces, ROW * len(labels) + 90, annotations=texts, bargap=0.68, **layout)
    figure.update_xaxes(title=title)
    return figure.update_yaxes(range=[len(labels) - 0.6, -0.75], visible=False)


def _spectrum(stage: StageSummary) -> Figure:
    """Which features make the value lower, which higher, and by how much."""
    features = stage.features[:MOST_ROWS]
    bars = Bar(
        x=[feature.weight for feature in features],
        y=list(range(len(features))),
        orientation="h",
        marker={"color": [BLUE if feature.weight < 0 else ORANGE for feature in features]},
        hovertext=[
            f"{label(f.name, 80)}<br>weight {words.number(f.weight)}, {words.percent(f.share)} of what is explained,"
            f"<br>found in {words.percent(f.stability)} of the fits on parts of the samples"
            for f in features
        ],
        hoverinfo="text",
    )
    notes = [f"{words.number(feature.weight)} ({label(words.percent(feature.share))})" for feature in features]
    return _rows([bars], [label(feature.name) for feature in features], notes, "weight")


def _values(parts: Sequence[Part]) -> Figure:
    """A box from 25 % to 75 % with the median, whiskers from 5 % to 95 %, and the mean."""
    quantiles = [part.spread.quantiles for part in parts if part.spread]
    means = [part.spread.mean for part in parts if part.spread]
    rows = list(range(len(parts)))
    boxes = Box(
        y=rows,
        lowerfence=[part.ends[0] for part in parts],
        q1=[q[1] for q in quantiles],
        median=[q[2] for q in quantiles],
        q3=[q[3] for q in quantiles],
        upperfence=[part.ends[1] for part in parts],
        orientation="h",
        width=0.36,
        line={"color": BLUE, "width": 1.5},
        hoverinfo="x",
    )
    dots = Scatter(x=means, y=rows, mode="markers", marker={"color": ORANGE, "size": 9, "symbol": "diamond"})
    dots.update(hovertext=[f"mean {words.number(mean)}" for mean in means], hoverinfo="text")
    notes = [f"mean {words.number(mean)}" for mean in means]
    return _rows([boxes, dots], [label(f"{part.name} ({part.n:,})", 26) for part in parts], notes, "value")


def _importance(summary: Summary) -> Figure:
    """What a parameter does alone, and what it does with others on top."""
    rows = summary.headline[:MOST_ROWS]
    bars = [
        Bar(
            x=[round(100 * share, 2) for share in shares],
            y=list(range(len(rows))),
            orientation="h",
            name=name,
            marker={"color": color},
            hovertext=[f"{label(row.parameter, 80)}<br>{name}: {label(words.percent(s))}" for row, s in pairs],
            hoverinfo="text",
        )
        for name, color, shares, pairs in (
            ("alone", BLUE, [row.first for row in rows], [(row, row.first) for row in rows]),
            ("with others", ORANGE, [r.total - r.first for r in rows], [(r, r.total - r.first) for r in rows]),
        )
    ]
    legend = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "yref": "paper", "traceorder": "normal"}
    notes = [label(words.percent(row.total)) for row in rows]
    title = f"% of the variance that stage {rows[0].stage} explains"
    figure = _rows(bars, [label(row.parameter) for row in rows], notes, title, barmode="stack", legend=legend)
    return figure.update_layout(showlegend=True, margin={"t": 60}, height=figure.layout.height + 30)


def _interactions(summary: Summary) -> Figure:
    """Shares of pairs, and on the diagonal of what parameters do alone: only those with the strongest pairs."""
    together = [pair for pair in summary.pairs if pair.is_pair]
    names = list(dict.fromkeys(name for pair in together for name in (pair.one, pair.other)))[:MOST_CELLS]
    shares = {frozenset((pair.one, pair.other)): 100 * pair.share for pair in summary.pairs}
    cells = [
        [shares.get(frozenset((a, b))) if j <= i else None for j, b in enumerate(names)] for i, a in enumerate(names)
    ]
    heat = Heatmap(
        z=cells,
        text=[["" if z is None else f"{z:.0f}" if z >= 1 else "&lt;1" for z in row] for row in cells],
        texttemplate="%{text}",
        textfont={"size": 13},
        colorscale=[[0, "rgba(42,134,196,0.10)"], [1, "rgba(42,134,196,0.95)"]],
        zmin=0,
        showscale=False,
        xgap=2,
        ygap=2,
        hovertext=[
            [
                f"{label(a, 60)}{'' if a == b else ' and ' + label(b, 60)}: {z or 0:.1f}%"
                for b, z in zip(names, row, strict=True)
            ]
            for a, row in zip(names, cells, strict=True)
        ],
        hoverinfo="text",
        hoverongaps=False,
    )
    ticks = {"tickvals": list(range(len(names))), "ticktext": [label(name, 16) for name in names], "showgrid": False}
    figure = _figure([heat], 150 + 34 * len(names), margin={"l": 10, "r": 16, "t": 10, "b": 10})
    figure.update_xaxes(**ticks, tickangle=-60, zeroline=False)
    return figure.update_yaxes(**ticks, autorange="reversed", zeroline=False)


def _best_so_far(summary: Summary) -> Figure:
    """All values as dots, the best up to each as a line."""
    steps = summary.steps
    changes = [step for i, step in enumerate(steps) if i in (0, len(steps) - 1) or step.best != steps[i - 1].best]
    dots, corners = _thin(steps), _thin(changes)
    traces = [
        Scatter(
            x=[step.trial for step in dots],
            y=[step.value for step in dots],
            mode="markers",
            marker={"color": GREY, "size": 4, "opacity": 0.6},
            hoverinfo="x+y",
        ),
        Scatter(
            x=[step.trial for step in corners],
            y=[step.best for step in corners],
            mode="lines",
            line={"color": BLUE, "width": 3, "shape": "hv"},
            hoverinfo="x+y",
        ),
    ]
    figure = _figure(traces, 340).update_xaxes(title="trial", zeroline=False)
    figure.update_yaxes(title="value", zeroline=False, range=_middle([step.value for step in steps], summary))
    if summary.overview.default is not None and summary.overview.improvement is not None:
        figure.add_hline(summary.overview.default, line={"color": ORANGE, "dash": "dash"}, annotation_text="default")
    return figure


def _thin(steps: Sequence[Step]) -> list[Step]:
    """Every so many, and the last."""
    every = -(-len(steps) // MOST_POINTS)
    return [step for i, step in enumerate(steps) if i % every == 0 or i == len(steps) - 1]


def _middle(values: Sequence[float], summary: Summary) -> list[float] | None:
    """Where the values are, if some are so bad that the rest would be a flat line; None: all of them fit."""
    ranked = sorted(values, reverse=summary.overview.goal == "maximize")
    best, bulk, worst = ranked[0], ranked[int(0.9 * (len(ranked) - 1))], ranked[-1]
    if abs(worst - best) <= 4 * abs(bulk - best) or bulk == best:
        return None
    ends = best - 0.1 * (bulk - best), bulk + (bulk - best)
    return sorted(ends)


def _failures(summary: Summary) -> Figure:
    """How many trials failed for which reason."""
    groups = summary.failures[:MOST_ROWS]
    bars = Bar(
        x=[group.n for group in groups],
        y=list(range(len(groups))),
        orientation="h",
        marker={"color": ORANGE},
        hovertext=[label(group.reason, 80) for group in groups],
        hoverinfo="text",
    )
    return _rows([bars], [label(g.reason) for g in groups], [f"{g.n:,}" for g in groups], "trials")
