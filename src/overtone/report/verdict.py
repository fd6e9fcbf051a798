"""The verdict in plain words: what was gained, how sure that is, and what matters."""

from overtone.report import words
from overtone.report.stages import GAP, StageSummary
from overtone.report.summary import Overview, Summary

Sentences = list[tuple[str, str]]  # (what about, what is to say)
STEPS = 8  # averages in a row that can still be read


def verdict(summary: Summary) -> Sentences:
    """A few sentences, the most important first."""
    about = {
        "Result": _result(summary),
        "Averages": _averages(summary),
        "How sure": _sureness(summary),
        "What matters": _matters(summary),
        "Failures": _failures(summary),
        "Run": _run(summary.overview),
    }
    return [(what, text) for what, text in about.items() if text]


def _result(summary: Summary) -> str:
    run = summary.overview
    if not run.n_trials:
        return "Nothing has come back yet."
    if run.best is None:
        return f"All {words.count(run.n_trials, 'trial')} failed, so there is no best configuration."
    at = "" if run.best_budget is None else f", at budget {run.best_budget:g}"
    best = f"The best value is {words.exact(run.best)} (trial {run.best_trial}{at})"
    if not run.has_default:
        return f"{best}. No default was given to compare it with."
    if run.default is None or run.improvement is None:
        return f"{best}. There is no value of the default at the same budget to compare it with."
    if run.improvement <= 0:
        return f"Nothing better than the default's {words.exact(run.default)} was found."
    return f"{best}, {_gain(run, run.default, run.improvement)} than the default's {words.exact(run.default)}."


def _gain(run: Overview, default: float, improvement: float) -> str:
    """'34% lower'; from a default of 0, and beyond tenfold, a percentage tells nothing."""
    gain = improvement / abs(default) if default else float("inf")
    much = words.percent(gain) if gain < 10 else words.number(improvement)
    return f"{much} {'lower' if run.goal == 'minimize' else 'higher'}"


def _averages(summary: Summary) -> str:
    """The paper's "average test error drops"."""
    known = [stage for stage in summary.stages if stage.before and stage.after]
    if not known:
        return ""
    means = [(f"stage {stage.number}", stage.before.mean) for stage in known if stage.before]
    if known[-1].after:
        means.append((known[-1].after_name, known[-1].after.mean))
    drops = " to ".join(f"{words.number(mean)} ({name})" for name, mean in means[:STEPS])
    return f"From stage to stage the average of the samples went from {drops}."


def _sureness(summary: Summary) -> str:
    if not summary.stages:
        return "No stage has been learned, so nothing is known yet about what matters."
    first, *others = summary.stages
    text = f"Stage {first.number}, {first.sure}: {sureness_words(first)}."
    warned = [f"stage {stage.number}" for stage in summary.stages if stage.warning]
    later = words.listing([f"stage {stage.number}, {stage.sure}" for stage in others], STEPS)
    text += f" Then {later}." if later else ""
    return f"{text} There are warnings: {words.listing(warned)}." if warned else text


def sureness_words(stage: StageSummary) -> str:
    """What the engine says, whether parts of the samples agree, and how well the fit is certified."""
    if not stage.features:
        return stage.reason or stage.verdict
    stable = [feature.stability for feature in stage.features]
    least, most = words.percent(min(stable)), words.percent(max(stable))
    agreement = least if least == most else f"{least} to {most}"
    return (
        f"{stage.reason}; {agreement} of the fits on parts of the samples find them, too; "
        f"the fit is {'certified' if stage.gap <= GAP else 'not certified'} (duality gap {stage.gap:.0e})"
    )


def _matters(summary: Summary) -> str:
    if not summary.headline:
        return "No parameter stands out." if summary.stages else ""
    names = words.listing([f"{row.parameter} ({words.percent(row.total)})" for row in summary.headline], 4)
    pair = next((pair for pair in summary.pairs if pair.is_pair), None)
    together = ""
    if pair is not None:
        together = f" Strongest together: {pair.one} and {pair.other} ({words.percent(pair.share)})."
    return f"{names}, of {words.count(summary.overview.n_parameters, 'parameter')}.{together}"


def _failures(summary: Summary) -> str:
    run = summary.overview
    if not run.n_failed:
        return ""
    share = words.percent(run.n_failed / run.n_trials)
    most = f"most often: {words.cut(summary.failures[0].reason, 120)}"
    text = f"{run.n_failed:,} of {words.count(run.n_trials, 'trial')} failed ({share}), {most}."
    if summary.crashes:
        text += f" Found to fail, and avoided since: {words.listing([c.combination for c in summary.crashes], 3)}."
    return text


def _run(run: Overview) -> str:
    state = f"It ended: {run.stopped}" if run.stopped else "It is still going"
    retried = f", {words.count(run.n_retried, 'trial')} started more than once" if run.n_retried else ""
    return f"{words.count(run.n_trials, 'trial')}, {words.seconds(run.seconds)} of work{retried}. {state}."
