"""Our plots and our report in optuna-dashboard, on the page of a study."""

from optuna import Study
from optuna_dashboard import save_note, save_plotly_graph_object

from overtone import report
from overtone.running.record import History

HEIGHT = 450  # pixels that the dashboard gives a plot; the rest would be cut off


def show(study: Study, history: History) -> None:
    """The report as the study's note, the spectrum and stage plots below its own; those of before are replaced."""
    save_note(study, f"```\n{report.text(history)}\n```")
    for name, figure in report.figures(history).items():
        title = {"text": name.replace("_", " "), "x": 0.02}  # on the right are the dashboard's buttons
        figure.update_layout(title=title, margin={"t": 70}, height=min(figure.layout.height, HEIGHT))
        save_plotly_graph_object(study, figure, graph_object_id=f"overtone_{name}")
