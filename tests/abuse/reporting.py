"""Make the database fail at a chosen statement, and collect the contents of error reports."""

from __future__ import annotations

import pprint
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.core.cache import caches
from django.core.signals import got_request_exception
from django.db import OperationalError, connection, transaction
from django.db.transaction import TransactionManagementError
from django.views.debug import ExceptionReporter

from authservice.kernel.secret import Secret

TRANSACTION = ("SAVEPOINT", "RELEASE", "ROLLBACK")
SHORT = 6  # characters of a code, which may occur by chance within a digest


class Failure(OperationalError):
    """The database is not available."""


@contextmanager
def failing(at: int) -> Iterator[list[str]]:
    """The database fails at statement number `at`; the list holds the statements so far."""
    statements: list[str] = []

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith(TRANSACTION):
            statements.append(sql)
            if len(statements) == at + 1:
                raise Failure("The database is not available.")
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield statements


@contextmanager
def reported(*, pages: bool = True) -> Iterator[list[str]]:
    """The reports of every unexpected exception in a request.

    Without `pages` they are the traceback and the variables of its frames, which are all that
    differs between two failures of one request: Django's pages add the request and the settings.
    """
    reports: list[str] = []

    def receive(request: Any, **_: Any) -> None:
        raised = sys.exc_info()
        if pages:
            reporter = ExceptionReporter(request, *raised)
            reports.append(reporter.get_traceback_html())
            reports.append(reporter.get_traceback_text())
        reports.append("".join(traceback.format_exception(raised[1])))
        reports.extend(_variables(raised[1]))

    got_request_exception.connect(receive)
    try:
        yield reports
    finally:
        got_request_exception.disconnect(receive)


def _variables(raised: BaseException | None) -> Iterator[str]:
    """The local variables of all frames, including those of the exceptions that led to it."""
    while raised is not None:
        trace = raised.__traceback__
        while trace is not None:
            yield pprint.pformat(dict(trace.tb_frame.f_locals))
            trace = trace.tb_next
        raised = raised.__cause__ or raised.__context__


@contextmanager
def made_secrets(monkeypatch: Any) -> Iterator[set[str]]:
    """The texts of all secrets created in this block, new tokens included."""
    texts: set[str] = set()
    make = Secret.__init__

    def note(self: Secret, text: str) -> None:
        texts.add(text)
        make(self, text)

    with monkeypatch.context() as patched:
        patched.setattr(Secret, "__init__", note)
        yield texts


def found(reports: list[str], secrets: set[str]) -> set[str]:
    """The secrets that a report shows."""
    return {secret for secret in secrets if any(_shows(text, secret) for text in reports)}


def _shows(report: str, secret: str) -> bool:
    if len(secret) < SHORT:
        return False
    if len(secret) == SHORT:
        return re.search(rf"(?<![\w.]){secret}(?![\w.])", report) is not None
    return secret in report


def shown(request: Callable[[], Any], secrets: set[str], monkeypatch: Any) -> tuple[int, set[str]]:
    """The number of statements at which the request was made to fail, and the secrets in the
    reports. Raises `AssertionError` if it crashes when no statement fails: then the statements
    after that place would not be tried."""
    at, leaked = 0, set()
    while True:
        caches["default"].clear()
        with (
            _undone(),
            reported(pages=at == 0) as reports,
            failing(at) as statements,
            made_secrets(monkeypatch) as made,
            # Raised by on-commit callbacks of a transaction that is rolled back.
            suppress(TransactionManagementError),
        ):
            request()
        leaked |= found(reports, made | secrets)
        if len(statements) <= at:
            assert not reports, reports[0]
            return at, leaked
        at += 1


@contextmanager
def _undone() -> Iterator[None]:
    """A transaction that is rolled back, and that the service does not see, as that of a test."""
    block: Any = transaction.atomic()
    block._from_testcase = True
    with block:
        yield
        transaction.set_rollback(True)
