"""Three databases that run queries over small tables: DuckDB, SQLite, and a PostgreSQL server of this test run."""

import getpass
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

from ecsel.export import to_sql
from ecsel.export.program.lowering import lower

KEY = "the row's number"


@dataclass(frozen=True)
class Database:
    """A database: its dialect, and a function that makes a table of columns (by name, kind and values) and asks it."""

    dialect: str
    ask: Callable[[str, dict[str, tuple[str, list[Any]]], str], list[tuple]]

    def score(self, model, rows, table="t", *, query=None, **options):
        """Return the result of a model's query over rows, in their order, without the key."""
        query = to_sql(model, self.dialect, table, keep=[KEY], **options) if query is None else query
        columns = {each.name: (each.kind, [row[each.name] for row in rows]) for each in lower(model).inputs}
        answers = self.ask(table, {KEY: ("key", list(range(len(rows)))), **typed(columns)}, query)
        assert sorted(each[0] for each in answers) == list(range(len(rows)))
        return [each[1:] for each in sorted(answers)]


def typed(columns):
    """Return the columns with values of their kind; text and truth values know no NaN."""
    return {name: (kind, [_typed(value, kind) for value in values]) for name, (kind, values) in columns.items()}


def _typed(value, kind):
    if value is None or (kind != "number" and value != value):  # noqa: PLR0124 - NaN
        return None
    return {"number": float, "text": str, "boolean": bool}[kind](value)


def quoted(name):  # all three databases write names alike
    return '"' + name.replace('"', '""') + '"'


def created(table, columns, types):
    listed = ", ".join(f"{quoted(name)} {types[kind]}" for name, (kind, _) in columns.items())
    return f"CREATE TEMPORARY TABLE {quoted(table)} ({listed})"


def ask_duckdb(connection, table, columns, query):
    types = {"key": pa.int64(), "number": pa.float64(), "text": pa.string(), "boolean": pa.bool_()}
    made = pa.table({name: pa.array(values, types[kind]) for name, (kind, values) in columns.items()})
    connection.register(table, made)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.unregister(table)


@pytest.fixture(scope="session")
def duck():
    """A connection to DuckDB, on one thread."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def ask_sqlite(table, columns, query):
    connection = sqlite3.connect(":memory:")
    try:
        types = {"key": "INTEGER", "number": "REAL", "text": "TEXT", "boolean": "BOOLEAN"}
        connection.execute(created(table, columns, types))
        marks = ", ".join("?" * len(columns))
        rows = list(zip(*(values for _, values in columns.values()), strict=True))
        connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.fixture(scope="session")
def postgres(need_program):
    """A connection to a server that listens on a socket in a folder of its own."""
    homes = os.pathsep.join(map(str, Path("/usr/lib/postgresql").glob("*/bin")))
    server, initdb = (
        shutil.which(each, path=homes) or need_program(each, "postgresql") for each in ("pg_ctl", "initdb")
    )
    folder = Path(tempfile.mkdtemp(prefix="ecsel-"))  # pytest's folders are closed to other users
    owner: dict[str, Any] = {}
    user = getpass.getuser()
    if os.geteuid() == 0:  # the server refuses to run as root
        user = "postgres"
        owner = {"user": user, "group": user, "extra_groups": []}
        shutil.chown(folder, user, user)
    data = folder / "data"
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    options = ["-U", user, "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]
    subprocess.run([initdb, "-D", data, *options], check=True, **silent, **owner)
    settings = ["listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "autovacuum=off"]
    arguments = " ".join(f"-c {each}" for each in settings)
    # both return when the server is ready, or gone
    subprocess.run([server, "-D", data, "-o", arguments, "--wait", "start"], check=True, **silent, **owner)
    try:
        with psycopg.connect(autocommit=True, host=str(folder), user=user, dbname="postgres") as connection:
            yield connection
    finally:
        subprocess.run([server, "-D", data, "--mode=fast", "--wait", "stop"], check=True, **silent, **owner)
        shutil.rmtree(folder)


def ask_postgres(connection, table, columns, query):
    types = {"key": "BIGINT", "number": "DOUBLE PRECISION", "text": "TEXT", "boolean": "BOOLEAN"}
    arrays = ", ".join(f"%s::{types[kind]}[]" for kind, _ in columns.values())
    try:
        connection.execute(created(table, columns, types).replace("%", "%%"), [])
        with connection.cursor() as cursor:
            name = quoted(table).replace("%", "%%")
            cursor.execute(f"INSERT INTO {name} SELECT * FROM unnest({arrays})", [each for _, each in columns.values()])
        return connection.execute(query).fetchall()
    finally:
        connection.execute("DISCARD TEMP")


@pytest.fixture(scope="session")
def in_duckdb(duck) -> Database:
    return Database("duckdb", lambda *asked: ask_duckdb(duck, *asked))


@pytest.fixture(scope="session")
def in_postgres(postgres) -> Database:
    return Database("postgres", lambda *asked: ask_postgres(postgres, *asked))


@pytest.fixture(scope="session")
def in_sqlite() -> Database:
    return Database("sqlite", ask_sqlite)


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def database(request) -> Database:
    return request.getfixturevalue(f"in_{request.param}")


def compare(case, answers):
    """Compare the results of all rows of a case with what the model says."""
    if not case.view.has_classes:
        case.assert_same([list(each) for each in answers], [None] * len(answers))
        return
    of_kind = bool if all(isinstance(label, bool) for label in case.view.classes) else lambda label: label
    labels = [None if each[0] is None else of_kind(each[0]) for each in answers]  # SQLite's TRUE is 1
    case.assert_same([list(each[1:]) for each in answers], labels)


@pytest.fixture(scope="session")
def assert_equals_model():
    return compare
