import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from overtone import report
from overtone.report.plots import MOST_CELLS, MOST_PARTS, MOST_POINTS, MOST_ROWS, label
from overtone.running.record import History
from overtone.space import Space, boolean
from tests.report.histories import NASTY, large, nasty, record, stage, tuned

SPACE = Space({"a": boolean(), "b": boolean()})


def drawn(history: History) -> dict[str, Any]:
    """As plain data: what cannot be JSON, such as NaN, is an error."""
    return {
        name: json.loads(json.dumps(figure.to_plotly_json(), allow_nan=False))
        for name, figure in report.figures(history).items()
    }


def test_what_there_is_to_show_is_shown() -> None:
    assert list(drawn(tuned())) == ["spectrum_1", "values", "importance", "interactions", "best_so_far", "failures"]
    assert drawn(History(SPACE, ())) == {}
    assert list(drawn(History(SPACE, (record(0, None),)))) == ["failures"]
    assert list(drawn(History(SPACE, (record(0, 1.0),)))) == ["values", "best_so_far"]
    alone = History(SPACE, (record(0, 1.0),), (stage(SPACE, {(0,): 1.0}),))
    assert "interactions" not in drawn(alone)


@pytest.mark.parametrize(("goal", "signs"), [("minimize", [1, -1]), ("maximize", [-1, 1])])
def test_spectrum_has_the_sign_of_the_goal(goal: Any, signs: list[int]) -> None:
    one = stage(SPACE, {(0,): 4.0, (0, 1): -2.0})
    (bars,) = drawn(History(SPACE, (), (one,), goal))["spectrum_1"]["data"]
    assert bars["x"] == [4 * signs[0], 2 * signs[1]]
    first, second = bars["marker"]["color"]
    assert first != second


def test_values_are_boxes_of_quantiles() -> None:
    records = [record(i, float(i)) for i in range(101)] + [record(200, None)]
    boxes, means = drawn(History(SPACE, tuple(records)))["values"]["data"]
    assert [boxes[name] for name in ("lowerfence", "q1", "median", "q3", "upperfence")] == [[5], [25], [50], [75], [95]]
    assert means["x"] == [50]


def test_importance_is_stacked() -> None:
    one = stage(SPACE, {(0,): 3.0, (0, 1): 1.0})
    alone, others = drawn(History(SPACE, (), (one,)))["importance"]["data"]
    assert (alone["x"], others["x"]) == ([90, 0], [10, 10])


def test_interactions_are_a_triangle() -> None:
    one = stage(SPACE, {(0,): 3.0, (0, 1): 1.0})
    (heat,) = drawn(History(SPACE, (), (one,)))["interactions"]["data"]
    assert heat["z"] == [[pytest.approx(90), None], [pytest.approx(10), None]]


def test_the_curve_has_its_corners() -> None:
    values = [5.0, 6.0, 3.0, 4.0, 3.5]
    dots, line = drawn(History(SPACE, tuple(record(i, v) for i, v in enumerate(values))))["best_so_far"]["data"]
    assert dots["y"] == values
    assert (line["x"], line["y"]) == ([0, 2, 4], [5, 3, 3])


def test_one_diverged_value_does_not_flatten_the_curve() -> None:
    values = [1.0 + i % 7 for i in range(60)]
    calm = drawn(History(SPACE, tuple(record(i, v) for i, v in enumerate(values))))["best_so_far"]
    assert "range" not in calm["layout"]["yaxis"]
    for goal, bad in (("minimize", 1e30), ("maximize", -1e30)):
        run = History(SPACE, tuple(record(i, v) for i, v in enumerate([*values, bad])), goal=goal)  # type: ignore[arg-type]
        low, high = drawn(run)["best_so_far"]["layout"]["yaxis"]["range"]
        assert -20 < low < 1
        assert 7 < high < 20


def test_large_runs_are_thinned() -> None:
    found = drawn(large(1000, 10_000, 5))
    assert len(found["best_so_far"]["data"][0]["x"]) <= MOST_POINTS + 1
    assert len(found["spectrum_3"]["data"][0]["x"]) == MOST_ROWS
    assert len(found["importance"]["data"][0]["x"]) == MOST_ROWS
    assert len(found["interactions"]["data"][0]["z"]) == MOST_CELLS
    assert len(json.dumps(found)) < 200_000
    many = History(SPACE, tuple(record(i, 1.0, f"part {i}") for i in range(50)))
    assert len(drawn(many)["values"]["data"][0]["y"]) == MOST_PARTS


def test_names_are_literal_for_plotly() -> None:
    assert label('<b>a</b> & "b" $x$') == '&lt;b&gt;a&lt;/b&gt; &amp; "b" &#36;x&#36;'
    shown = list(strings(drawn(nasty(NASTY))))
    assert {tag for text in shown for tag in re.findall(r"<[^>]*>", text)} <= {"<br>"}  # our own, between lines
    assert all(text.isprintable() for text in shown)


def strings(data: Any) -> Iterator[str]:
    if isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from strings(each)
    elif isinstance(data, str):
        yield data
