"""Addresses of ledgers on a server; a password is never shown, whatever is wrong with it."""

import pickle
from pathlib import Path

import pytest

from overtone.errors import InputError
from overtone.running import postgresql_server
from overtone.running.ledger import is_url, open_ledger, public_address
from overtone.running.postgresql_address import parse_address

SECRET = "s3cret"  # noqa: S105


@pytest.mark.parametrize(
    ("text", "shown", "conninfo"),
    [
        ("postgresql://h/d?run=a", "postgresql://h/d?run=a", "postgresql://h/d"),
        ("postgres://me@h:5432/d?run=a%20b", "postgresql://me@h:5432/d?run=a%20b", "postgresql://me@h:5432/d"),
        ("postgresql:///d?host=/tmp&run=a", "postgresql:///d?host=/tmp&run=a", "postgresql:///d?host=/tmp"),
        ("postgresql://[::1]:5432/d?run=a", "postgresql://[::1]:5432/d?run=a", "postgresql://[::1]:5432/d"),
        ("postgresql://a:1,b:2/d?run=a", "postgresql://a:1,b:2/d?run=a", "postgresql://a:1,b:2/d"),
        ("postgresql://me:s3cret@h/d?run=a", "postgresql://me@h/d?run=a", "postgresql://me:s3cret@h/d"),
        ("postgresql://me:s3:cret@h/d?run=a", "postgresql://me@h/d?run=a", "postgresql://me:s3:cret@h/d"),
        ("postgresql://:s3cret@h/d?run=a", "postgresql://h/d?run=a", "postgresql://:s3cret@h/d"),
        (
            "postgresql://me@h/d?password=s3cret&options=-c%20a%3Db+c&run=a",
            "postgresql://me@h/d?options=-c%20a%3Db%2Bc&run=a",
            "postgresql://me@h/d?password=s3cret&options=-c%20a%3Db%2Bc",
        ),
    ],
)
def test_a_url_is_taken_apart_and_shown_without_its_password(text: str, shown: str, conninfo: str) -> None:
    address = parse_address(text)
    assert (str(address), address.conninfo) == (shown, conninfo)
    assert address.has_password == ("cret" in text)
    assert "cret" not in repr(address) + str(address) + f"{address!r:>5}"
    assert parse_address(shown).shown == shown
    assert pickle.loads(pickle.dumps(address)) == address  # noqa: S301


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("postgresql://h/d", "with a name for the run"),
        ("postgresql://h/d?run=", "with a name for the run"),
        ("postgresql://h/d?run=a%0Ab", "with a name for the run"),
        ("postgresql://me:s3cret@x@h/d?run=a", '"@" stands where none can be'),
        ("postgresql://me:x/s3cret@h/d?run=a", '"@" stands where none can be'),
        ("postgresql://me:x?s3cret@h/d?run=a", '"@" stands where none can be'),
        ("postgresql://me:x#s3cret@h/d?run=a", '"@" stands where none can be'),
        ("postgresql://me:s3cret%zz@h/d?run=a", 'a bare "%"'),
        ("postgresql://me:s3cret/d?run=a", "a port in it is no number"),
        ("postgresql://me:[s3cret@h/d?run=a", "this is no URL"),
        ("postgresql://me:s3cret@h/d?run=a#b", 'a "#"'),
    ],
)
def test_what_libpq_would_misread_is_refused_without_a_word_of_it(text: str, match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        parse_address(text)
    assert "cret" not in str(caught.value)


def test_what_is_a_url_and_what_is_a_file() -> None:
    assert [is_url(place) for place in ("postgresql://h/d", "postgres://h/d", "PostgreSQL://h")] == [True] * 3
    assert [is_url(place) for place in ("a.db", "postgresql", "mysql://h", None, Path("postgresql://h"))] == [False] * 5


def test_a_run_has_the_name_of_the_url_or_else_the_given_one() -> None:
    assert parse_address("postgresql://h/d", "tune").run == "tune"
    assert parse_address("postgresql://h/d?run=mine", "tune").run == "mine"


@pytest.mark.parametrize("text", ["postgresql://me:s3cret@h/d", "postgresql://me@h/d?password=s3cret"])
def test_in_public_there_is_no_password(text: str) -> None:
    assert str(public_address("postgresql://me@h/d", "a")) == "postgresql://me@h/d?run=a"
    with pytest.raises(
        InputError, match=r"must have no password .* set PGPASSWORD, or write it into ~/.pgpass"
    ) as caught:
        public_address(text, "a")
    assert SECRET not in str(caught.value)


def test_without_psycopg_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql_server, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'overtone\[postgresql\]'"):
        open_ledger("postgresql://h/d?run=a")
