"""`Address`: where a ledger is on a PostgreSQL server, as a URL. Its password is never shown."""

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, quote, unquote, urlsplit

from overtone.errors import InputError

SCHEMES = ("postgresql", "postgres")
SECRETS = ("password", "sslpassword")  # settings of a connection that nobody may read
LONGEST = 200  # characters of a run's name
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:\d*)?")  # a name or an address, and a port


@dataclass(frozen=True)
class Address:
    """postgresql://user@host:port/database?run=NAME; several runs share a database.

    As a text it has no password, so it may be shown and written anywhere.
    """

    shown: str
    run: str
    conninfo: str = field(repr=False)  # for libpq: the URL as it came, without our `run`
    has_password: bool = False

    def __str__(self) -> str:
        return self.shown


def is_url(place: object) -> bool:
    """It is a text that names a server, not a file."""
    return isinstance(place, str) and place.partition("://")[0].lower() in SCHEMES and "://" in place


def parse_address(text: str, run: str = "") -> Address:
    """A URL, taken apart; `run` is the run's name if the URL has none. No error repeats the text, for its password."""
    parts = _parts(text)
    query = _query(parts.query)
    name = dict(query).get("run", run)
    if not 0 < len(name) <= LONGEST or not name.isprintable():
        raise _wrong(
            f"with a name for the run, of at most {LONGEST} letters, but it has none: several share a database"
        )
    login, _, host = parts.netloc.rpartition("@")
    user, colon, _ = login.partition(":")
    rest = [(key, value) for key, value in query if key != "run"]
    harmless = [(key, value) for key, value in rest if key not in SECRETS]
    return Address(
        shown=_url(f"{user}@{host}" if user else host, parts.path, [*harmless, ("run", name)]),
        run=name,
        conninfo=_url(parts.netloc, parts.path, rest),
        has_password=bool(colon) or len(harmless) < len(rest),
    )


def public_address(text: str, run: str = "") -> Address:
    """A URL that stands in a file or on a command line, where others may read it."""
    address = parse_address(text, run)
    if address.has_password:
        raise InputError(
            f"{address} must have no password in a file or on the command line, where others may read it, but has one: "
            "set PGPASSWORD, or write it into ~/.pgpass"
        )
    return address


def _parts(text: str) -> SplitResult:
    """Refused is what libpq would misread, and then complain of with a part of the password in its words."""
    try:
        parts = urlsplit(text)
    except ValueError:
        raise _wrong("but this is no URL") from None
    login, _, hosts = parts.netloc.rpartition("@")
    if "@" in login + parts.path + parts.query + parts.fragment:
        raise _wrong('but an "@" stands where none can be: in a password write %40 for "@", %2F for "/", %3F for "?"')
    if parts.fragment or re.search("%(?![0-9a-fA-F]{2})", text):
        raise _wrong('but a "#" or a bare "%" is in it: write %23 for "#", %25 for "%"')
    if not all(_HOST.fullmatch(host) for host in hosts.split(",")):
        raise _wrong("but a port in it is no number: is the password without an @HOST after it?")
    return parts


def _query(text: str) -> list[tuple[str, str]]:
    """As libpq reads it, to whom + is no space."""
    pairs = [word.partition("=") for word in text.split("&") if word]
    return [(unquote(key), unquote(value)) for key, _, value in pairs]


def _url(host: str, path: str, query: list[tuple[str, str]]) -> str:
    words = "&".join(f"{quote(key, safe='')}={quote(value, safe='/')}" for key, value in query)
    return f"postgresql://{host}{path}" + (f"?{words}" if words else "")


def _wrong(what: str) -> InputError:
    return InputError(f"a ledger on PostgreSQL must be postgresql://USER@HOST:PORT/DATABASE?run=NAME, {what}")
