"""The report: printed, as files in benchmarks/results, and as the numbers of docs/contest.md."""

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import measure
from benchmarks.search import tables
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.player import MODES
from benchmarks.search.plots import draw
from benchmarks.search.store import read_all
from benchmarks.search.summary import Summary, plain, summarize, with_earlier

DOCS = Path(__file__).parents[2] / "docs" / "contest.md"


def report(where: Path, *, keep: bool = False) -> Summary | None:
    """Tables and plots of what is in a folder of cells; keep: the last report's stay where it had more seeds."""
    rows = read_all(where)
    if not rows:
        print("no results yet")
        return None
    summary = summarize(rows)
    if keep:
        summary = with_earlier(summary, json.loads((measure.RESULTS / "search.json").read_text())["rows"])
    measure.save("search", {"versions": versions(), **plain(summary)})
    text = tables.markdown(summary)
    (measure.RESULTS / "search.md").write_text(text)
    draw(summary, measure.RESULTS)
    print(text)
    return summary


def versions() -> dict[str, str]:
    """Of all packages that take part."""
    found = {}
    for name in sorted({contestant.package for contestant in CONTESTANTS.values()} | {"numpy", "scikit-learn"}):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def fill_docs(summary: Summary, page: Path = DOCS) -> None:
    """Put the tables between `<!-- NAME -->` and `<!-- /NAME -->` of the page: no number is copied by hand."""
    packages = measure.table(["package", "version"], [[*item] for item in versions().items()])
    parts = {
        "problems": tables.problem_table(),
        "contestants": tables.contestant_table(),
        "versions": packages,
        "wins": tables.wins(summary),
        "clear": tables.clear(summary),
        "gaps": tables.gaps(summary),
        "seconds": tables.seconds(summary),
        "paper": tables.paper(summary),
        "overview": "\n\n".join(tables.overview(summary, mode) for mode in MODES),
    }
    page.write_text(filled(page.read_text(), parts))


def filled(text: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if begin not in text or end not in text:
            raise ValueError(f"the page must have the marks {begin} and {end}")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{part}\n{end}{rest.partition(end)[2]}"
    return text
