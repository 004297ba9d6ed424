"""Databases that are created for a run and dropped after it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from tests.benchmarks.errors import BenchmarkError


@contextmanager
def database(admin_url: str, name: str, *, keep: bool) -> Iterator[str]:
    """The URL of a database named after *name*; a kept one is reused by the next run."""
    name = f"authservice_benchmark_{name}" + ("" if keep else f"_{os.getpid()}")
    create(admin_url, name)
    try:
        yield urlunsplit(urlsplit(admin_url)._replace(path=f"/{name}"))
    finally:
        if not keep:
            drop(admin_url, name)


def create(admin_url: str, name: str) -> None:
    with connection(admin_url) as server:
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def drop(admin_url: str, name: str) -> None:
    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
    with connection(admin_url) as server:
        server.execute(statement.format(sql.Identifier(name)))


def analyze(url: str) -> None:
    """Update the statistics, as autovacuum does within a minute or two.

    PostgreSQL then replans statements that were prepared while tables were empty. A sequential scan
    is the right plan for an empty table, and when autovacuum would correct it depends on chance.
    """
    with connection(url) as server:
        server.execute("ANALYZE")


def connection(admin_url: str) -> psycopg.Connection:
    try:
        return psycopg.connect(admin_url, autocommit=True)
    except psycopg.OperationalError as error:
        raise BenchmarkError(f"no PostgreSQL at --database-url: {error}") from error
