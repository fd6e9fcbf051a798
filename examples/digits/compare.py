"""After `overtone run tune.toml`: random search with as many trials, and the untuned default, beside what was found."""

from functools import partial
from pathlib import Path

import overtone as ot
from overtone.running.journal import read_history
from overtone.running.ledger import read_ledger
from overtone.running.record import History
from overtone.settings.settings import load_settings

HERE = Path(__file__).parent


def random_search(n_evaluations: int) -> History:
    """The same objective and space as in the file; other random numbers than those of the stages."""
    settings = load_settings(HERE / "tune.toml")
    optimizer = partial(ot.RandomSearch, n_evaluations=n_evaluations)
    return ot.minimize(settings.objective, settings.space, optimizer=optimizer, seed=1000).history


def main() -> None:
    tuned = read_history(read_ledger(HERE / "tune.db"))
    default = next(record for record in tuned.records if record.trial.stage == "default")
    histories = {"random search": random_search(len(tuned.records)), "Harmonica": tuned}
    print("\nerror on images that were not trained on:")
    print(f"  {'the untuned default':28} {default.outcome.value:6.2f} %")
    for name, history in histories.items():
        if history.best is not None:
            print(f"  {f'{name}, {len(history.records):,} trials':28} {history.best.outcome.value:6.2f} %")


if __name__ == "__main__":
    main()
