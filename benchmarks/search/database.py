"""SQLite: which indexes to make, and how it is to plan."""

import sqlite3
from functools import cache

import numpy as np

from benchmarks.search.problem import Problem
from overtone.space import Config, Space, boolean

INDEXES = (
    "customer(city)",
    "customer(name)",
    "customer(city,name)",
    "purchase(customer)",
    "purchase(day)",
    "purchase(state)",
    "purchase(customer,day)",
    "purchase(state,day)",
    "purchase(day,state)",
    "purchase(state,customer)",
    "item(purchase)",
    "item(product)",
    "item(purchase,product)",
    "item(product,amount)",
    "item(amount)",
    "item(product,purchase)",
    "product(price)",
    "product(kind)",
    "product(kind,price)",
)
QUERIES = (
    "SELECT name FROM customer WHERE city = 3 ORDER BY name",
    "SELECT count(*) FROM purchase WHERE state = 2 AND day BETWEEN 50 AND 60",
    "SELECT c.city, count(*) FROM customer c JOIN purchase p ON p.customer = c.id WHERE p.day > 80 GROUP BY c.city",
    "SELECT max(amount) FROM item WHERE product = 7",
    "SELECT p.id FROM purchase p JOIN item i ON i.purchase = p.id WHERE i.product = 11 AND p.state = 1",
    "SELECT sum(i.amount * q.price) FROM item i JOIN product q ON q.id = i.product WHERE q.kind = 2",
    "SELECT id FROM product WHERE kind = 1 ORDER BY price LIMIT 3",
    "SELECT day, count(*) FROM purchase WHERE customer IN (3, 5, 8) GROUP BY day",
    "SELECT DISTINCT c.name FROM customer c, purchase p, item i WHERE p.customer = c.id AND i.purchase = p.id "
    "AND i.amount > 18",
    "SELECT id FROM purchase WHERE day = 33 AND state = 3",
)
STEP = 10  # instructions of its machine between two calls of the counter


def sqlite_indexes() -> Problem:
    """Instructions of SQLite's machine for ten queries and 40 insertions: indexes help the ones and cost the others."""
    space = Space(
        {f"index {name}": boolean() for name in INDEXES} | {"analyze": boolean(), "automatic_index": boolean()}
    )
    return Problem(
        "SQLite indexes, steps", space, _steps, 200, is_real=True, is_slow=True, stamp=sqlite3.sqlite_version
    )


def _steps(config: Config) -> float:
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.deserialize(_shop())
    for name in INDEXES:
        if config[f"index {name}"]:
            database.execute(f"CREATE INDEX i{INDEXES.index(name)} ON {name}")
    if config["analyze"]:
        database.execute("ANALYZE")
    database.execute(f"PRAGMA automatic_index = {int(bool(config['automatic_index']))}")
    calls = [0]

    def count() -> int:
        calls[0] += 1
        return 0

    database.set_progress_handler(count, STEP)
    for query in QUERIES:
        database.execute(query).fetchall()
    for i in range(20):
        database.execute("INSERT INTO purchase VALUES (?, ?, ?, ?)", (1000 + i, i, i * 5 % 100, i % 4))
        database.execute("INSERT INTO item VALUES (?, ?, ?, ?)", (5000 + i, 1000 + i, i, i))
    database.set_progress_handler(None, 0)
    database.close()
    return float(calls[0] * STEP)


@cache
def _shop() -> bytes:
    """A small shop."""
    rng = np.random.default_rng(31)
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute("BEGIN")
    for table, columns, sizes in (
        ("customer", "city, name", (80, 12, 500)),
        ("product", "kind, price", (30, 5, 90)),
        ("purchase", "customer, day, state", (300, 80, 100, 4)),
        ("item", "purchase, product, amount", (700, 300, 30, 20)),
    ):
        database.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {columns})")
        n, *tops = sizes
        rows = np.column_stack([np.arange(n), *(rng.integers(0, top, n) for top in tops)]).tolist()
        marks = ", ".join("?" * (1 + len(tops)))
        database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - names of this file
    database.execute("COMMIT")
    return database.serialize()
