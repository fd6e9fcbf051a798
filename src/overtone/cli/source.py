"""What a verb is about: the TOML file or the ledger that the user names, and the run behind it."""

import re
from dataclasses import dataclass
from pathlib import Path

from overtone.errors import InputError
from overtone.running.command import Command
from overtone.running.function import Function
from overtone.running.journal import read_history
from overtone.running.ledger import Address, is_url, public_address, read_ledger
from overtone.running.record import History
from overtone.settings.settings import load_settings

MAGIC = b"SQLite format 3\0"


@dataclass(frozen=True)
class Source:
    """The ledger of a run, and its objective as far as it is known."""

    ledger: Path | Address
    objective: Command | Function | None

    def history(self) -> History:
        """The run as far as it is."""
        if isinstance(self.ledger, Path) and not self.ledger.exists():
            raise InputError(f"{self.ledger}: there is no run yet: start it with `overtone run`")
        return read_history(read_ledger(self.ledger))

    @property
    def page(self) -> Path:
        """Where the report goes if nobody says: beside the ledger; of one on a server, here."""
        if isinstance(self.ledger, Path):
            return self.ledger.with_suffix(".html")
        return Path(re.sub(r"[^\w.-]", "_", self.ledger.run) + ".html")

    def line(self, history: History) -> str | None:
        """The command line of the best trial; None if it is not known, or there is no best."""
        objective, best = self.objective or _recorded(history), history.best
        return None if objective is None or best is None else objective.line(best.trial.config, best.trial.budget)


def ledger_place(text: str, run: str = "") -> Path | Address:
    """A ledger as it is named on the command line."""
    return public_address(text, run) if is_url(text) else Path(text).absolute()


def find(text: str) -> Source:
    """A ledger is a URL, or known by its first bytes; everything else is taken for TOML."""
    if is_url(text):
        return Source(public_address(text), None)
    place = Path(text)
    if _is_ledger(place):
        return Source(place, None)
    settings = load_settings(place)
    return Source(settings.ledger, settings.objective)


def _is_ledger(place: Path) -> bool:
    try:
        with place.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(f"{place}: it must be a file that can be read, but: {error.strerror}") from None


def _recorded(history: History) -> Command | Function | None:
    """What the ledger knows: a run of `minimize` has the name of its objective only."""
    objective = history.settings.get("objective")
    if not isinstance(objective, dict):
        return None
    return Command.from_dict(objective) if "arguments" in objective else Function.from_dict(objective)
