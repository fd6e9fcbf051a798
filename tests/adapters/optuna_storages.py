"""Storages of Optuna that are closed after use: it leaves connections to the garbage collector, which complains."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.postgresql import Server


@contextmanager
def opened(address: str) -> Iterator[Any]:
    """A storage in a database."""
    from optuna.storages import RDBStorage

    waits = {"connect_args": {"timeout": 100}} if address.startswith("sqlite") else {}
    storage = RDBStorage(address, engine_kwargs=waits)
    try:
        yield storage
    finally:
        storage.remove_session()
        storage.engine.dispose()


def address_at(server: Server) -> str:
    """Of a database that nobody has had."""
    return f"postgresql+psycopg://postgres@/{server.new_database()}?host={server.folder}&port={server.port}"
