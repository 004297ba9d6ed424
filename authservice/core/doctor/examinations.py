"""What `authservice_doctor` examines of core: the databases, the cache and their clocks, then what
needs regular work (signing keys are rotated, expired rows deleted), then the settings.

The rules about settings are those of `manage.py check --deploy`. Here they get an area, and a
severity for a service that runs: broken is what keeps users out or lets attackers in.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.checks import ERROR, WARNING, CheckMessage, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from authservice.core import cleanup
from authservice.core.tokens import key_rotation, signing
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, secret, throttling
from authservice.kernel import settings as kernel_settings
from authservice.kernel.checks import (
    ATTENTION,
    BROKEN,
    CHECKS,
    OK,
    Finding,
    Visit,
    fault_of,
    listed,
    skew,
)
from authservice.kernel.sections import root, secure

# Seconds since 1970 by the clock of the server, not by that of the transaction's start.
_TIMES = {
    "postgresql": "SELECT extract(epoch FROM clock_timestamp())",
    "mysql": "SELECT unix_timestamp(sysdate(6))",
}
_NAMES = {"postgresql": "PostgreSQL", "mysql": "MySQL", "sqlite": "SQLite", "oracle": "Oracle"}
_SHOWN = 5  # names of migrations
_UNREAD = " Worker, cleanup and stored secrets were not examined: run this again afterwards."

# Keys are rotated every three months, as the documentation proposes; a year is four times that.
_OLD_KEY = timedelta(days=365)
_STEPS = "docs: managing, authservice_keys"

# Areas of Django's own checks; all others of them are of the area "settings".
_AREA_OF_DJANGO = {
    **dict.fromkeys(("security.W009", "security.W025"), "keys"),
    "security.W008": "proxies",
    **dict.fromkeys((f"security.W0{number}" for number in (10, 11, 12, 15, 16, 17)), "cookies"),
}
# Those of them that mean that a service in production is open.
_GRAVE_OF_DJANGO = frozenset({"security.W009", "security.W018", "security.W020"})
# Django's advice about HSTS for subdomains and browsers' lists, which a project may not want.
_ADVICE = frozenset({"security.W005", "security.W021"})
_DJANGO = "https://docs.djangoproject.com/en/stable/ref/checks/#security"


@dataclass(frozen=True)
class _Server:
    """A database that answered; `ahead` is by how many seconds its clock is ahead of ours."""

    name: str
    ahead: float | None


def examine_databases(visit: Visit) -> Iterator[Finding]:
    """Whether each database answers. Sets `visit.has_tables`."""
    # All servers are asked at the same time, in threads with a time limit. SQLite is a file, and is
    # asked in this thread.
    engines = {alias: connections.settings[alias]["ENGINE"] for alias in connections}
    servers = [alias for alias, engine in engines.items() if not engine.endswith("sqlite3")]
    calls = visit.calls([partial(_connected, alias) for alias in servers])
    answers = dict(zip(servers, calls, strict=True))
    for alias in engines:
        answer = answers.get(alias, partial(_connected, alias))
        where = f"DATABASES[{alias!r}]"
        try:
            server = answer()
        except Exception as error:
            yield from _away(visit, alias, where, error)
        else:
            text = f"{server.name} answers ({where})."
            yield Finding(area="database", state=OK, text=text)
            if server.ahead is not None:
                yield skew(f"the database {alias!r}", server.ahead)


def _away(visit: Visit, alias: str, where: str, error: Exception) -> Iterator[Finding]:
    primary = alias == databases.primary()
    if primary:
        visit.has_tables = False
    entry = connections.settings[alias]
    place = f"{entry['HOST']}:{entry['PORT'] or 'default port'}" if entry["HOST"] else entry["NAME"]
    yield Finding(
        area="database",
        state=BROKEN if primary or alias == DEFAULT_DB_ALIAS else ATTENTION,
        text=f"{where} at {place} does not answer: {fault_of(error)}.{_UNREAD if primary else ''}",
        settings=f"{where} (HOST, PORT, NAME, USER, PASSWORD), or DATABASE_URL if you use it",
        remedy="Check on the database server that it runs, has free connections and accepts this"
        f" user: `manage.py dbshell --database {alias}` shows what it answers.",
    )


def _connected(alias: str) -> _Server:
    connection: Any = connections[alias]
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        ahead = None
        statement = _TIMES.get(connection.vendor)
        if statement:
            sent_at = monotonic()
            cursor.execute(statement)
            ahead = _ahead(float(cursor.fetchone()[0]), sent_at)
    version = ".".join(map(str, connection.get_database_version()))
    maria = getattr(connection, "mysql_is_mariadb", False)
    name = "MariaDB" if maria else _NAMES.get(connection.vendor, connection.display_name)
    return _Server(f"{name} {version}", ahead)


def examine_migrations(visit: Visit) -> Iterator[Finding]:
    """Whether the tables are those of the installed code."""
    if not visit.has_tables:
        return
    using = databases.primary()
    with visit.reading():
        executor = MigrationExecutor(connections[using])
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not plan:
        yield Finding(area="migrations", state=OK, text="All migrations are applied.")
        return
    # Migrations of other apps say nothing about our tables.
    users_app = host().model._meta.app_label
    visit.has_tables = not any(
        migration.app_label.startswith("authservice_") or migration.app_label == users_app
        for migration, _ in plan
    )
    names = [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
    yield Finding(
        area="migrations",
        state=BROKEN,
        text=f"{len(names)} not applied: {listed(names, most=_SHOWN)}. Requests that use these"
        f" tables fail.{'' if visit.has_tables else _UNREAD}",
        settings=f"the tables in DATABASES[{using!r}]",
        remedy=f"Run `manage.py migrate --database {using}`.",
    )


def examine_cache(visit: Visit) -> Iterator[Finding]:
    """Whether the cache of the rate limits stores and counts. Which caches processes do not share
    is a system check (W060)."""
    alias = throttling.conf.cache
    where = f"CACHES[{alias!r}]"
    try:
        ahead = visit.call(partial(_counted, alias))
    except Exception as error:
        yield Finding(
            area="cache",
            state=BROKEN,
            text=f"{where} does not answer: {fault_of(error)}. Rate limits are off until it does.",
            settings=f"{where} (LOCATION, OPTIONS), named by THROTTLE.CACHE",
            remedy="Check that the cache server runs and that this machine reaches it, such as with"
            " `redis-cli -h HOST ping`.",
        )
        return
    kind = type(caches[alias]).__name__
    yield Finding(area="cache", state=OK, text=f"{kind} stores and counts ({where}).")
    if ahead is not None:
        yield skew(f"the cache {alias!r}", ahead)


def _counted(alias: str) -> float | None:
    """Count in the cache as the rate limits do; returns by how much its clock is ahead, or None
    if the cache does not say. Raises `RuntimeError` if a counter is lost."""
    cache: Any = caches[alias]
    key = f"authservice-doctor-{secrets.token_hex(8)}"
    cache.add(key, 1, timeout=60)
    try:
        count = cache.incr(key)
    except ValueError:
        count = None
    if count != 2:
        raise RuntimeError("it loses counters at once")
    cache.delete(key)
    server: Any = getattr(cache, "_cache", None)  # Django's own client of Redis
    if not hasattr(server, "get_client"):
        return None
    sent_at = monotonic()
    seconds, microseconds = server.get_client(key, write=True).time()
    return _ahead(seconds + microseconds / 1e6, sent_at)


def _ahead(server_time: float, sent_at: float) -> float:
    """By how many seconds the clock of a server is ahead; it was read about halfway between
    question and answer."""
    return server_time + (monotonic() - sent_at) / 2 - clock.timestamp()


def examine_keys(visit: Visit) -> Iterator[Finding]:
    """Whether access tokens can be signed and verified, and keys whose time is over."""
    try:
        ring = signing.ring()
        # What a login and the next request do. The token has no claims, so no request accepts it.
        signed, _, signature = ring.encode({}).rpartition(".")
        valid = ring.active.verifies(signed.encode(), secret.unb64(signature))
    except (ImproperlyConfigured, ValueError, TypeError) as error:
        # The check E050 says what is wrong with a key; the text of other errors may quote it.
        detail = f": {error}" if isinstance(error, ImproperlyConfigured) else ""
        valid, reason = False, f"SIGNING_KEYS cannot be used{detail}"
    else:
        reason = "The active key does not verify its own signatures"
    if not valid:
        yield Finding(
            area="keys",
            state=BROKEN,
            text=f"{reason.rstrip('.')}. Access tokens can be neither issued nor verified.",
            settings="AUTHSERVICE['SIGNING_KEYS']",
            remedy="Restore the key file from the backup or another machine. If there is none, run"
            f" `manage.py authservice_keys generate --file FILE`: all clients refresh. ({_STEPS})",
        )
        return
    source = "in SIGNING_KEYS" if root.signing_keys else "derived from SECRET_KEY"
    text = f"The active key {ring.active.kid} ({ring.active.alg}, {source}) signs and verifies."
    yield Finding(area="keys", state=OK, text=text)
    if fallbacks := len(settings.SECRET_KEY_FALLBACKS):
        text = f"Keys in SECRET_KEY_FALLBACKS that still verify: {fallbacks}."
        yield Finding(area="keys", state=OK, text=text)
    yield from _ages(clock.utc())


def _ages(now: datetime) -> Iterator[Finding]:
    needed_for = key_rotation.KNOWN_AFTER + root.access_token_ttl
    for entry in root.signing_keys:
        kid, state = entry.get("kid", "without kid"), entry.get("state", "active")
        retired, created = _moment(entry, "retired_at"), _moment(entry, "created_at")
        if state == "retired" and retired and now - retired > needed_for:
            yield Finding(
                area="keys",
                state=ATTENTION,
                text=f"The signing key {kid} has expired: it was retired {_days(now - retired)}"
                " ago, and no token needs it. An attacker who has it can still forge tokens.",
                settings="AUTHSERVICE['SIGNING_KEYS']",
                remedy="Run `manage.py authservice_keys retire --file FILE`, then restart every"
                f" process. ({_STEPS})",
            )
        elif state == "active" and created and now - created > _OLD_KEY:
            yield Finding(
                area="keys",
                state=ATTENTION,
                text=f"The active signing key {kid} is {_days(now - created)} old.",
                settings="AUTHSERVICE['SIGNING_KEYS']",
                remedy="Rotate it: `manage.py authservice_keys rotate --generate --file FILE` every"
                f" three months, such as by cron. ({_STEPS})",
            )


def _moment(entry: Mapping[str, Any], name: str) -> datetime | None:
    """A time of an entry, or None for a key that `authservice_keys` did not make."""
    try:
        return datetime.fromisoformat(entry[name]).astimezone(UTC)
    except (KeyError, TypeError, ValueError):
        return None


def _days(age: timedelta) -> str:
    return f"{age.days} days"


def examine_cleanup(visit: Visit) -> Iterator[Finding]:
    """Whether expired rows are deleted. No run is recorded: rows that are left show it."""
    if not visit.has_tables:
        return
    with visit.reading():
        overdue = cleanup.overdue()
    if not overdue:
        text = "No expired link or code is left that a daily cleanup would have deleted."
        yield Finding(area="cleanup", state=OK, text=text)
        return
    yield Finding(
        area="cleanup",
        state=ATTENTION,
        text="Expired rows have not been deleted for 48 hours: the tables grow, and personal data"
        " are kept for too long.",
        settings="the crontab, systemd timer or Celery beat that runs authservice_cleanup",
        remedy="Run `manage.py authservice_cleanup` now, and once a day, such as by the crontab"
        " line `17 4 * * * manage.py authservice_cleanup`. (docs: running/retention)",
    )


def examine_settings(visit: Visit) -> Iterator[Finding]:
    """What `manage.py check --deploy` reports, and the time zone."""
    tables = [databases.primary()] if visit.has_tables else []
    messages = run_checks(include_deployment_checks=True, databases=tables)
    findings = [
        _finding(message)
        for message in messages
        if message.level >= WARNING and not message.is_silenced() and message.id not in _ADVICE
    ]
    yield from findings
    if not settings.USE_TZ and settings.TIME_ZONE != "UTC":
        yield Finding(
            area="clock",
            state=ATTENTION,
            text=f"USE_TZ is False and TIME_ZONE is {settings.TIME_ZONE!r}: times are stored"
            " without their zone, so sessions and links expire an hour late when summer time ends.",
            settings="USE_TZ",
            remedy="Set USE_TZ to True as Django's page 'Time zones' describes for projects with"
            " data, or set TIME_ZONE to 'UTC'.",
        )
    for area in {"settings", "proxies", "cookies"} - {finding.area for finding in findings}:
        # `secure` and `root` cannot be read while there are complaints.
        if area == "settings" or list(kernel_settings.complaints()):
            text = "`check --deploy` reports nothing."
        elif area == "cookies":
            scheme = "https only" if secure() else "http"
            text = f"Cookies are for {scheme}, as API_URL and FRONTEND.URL need it."
        else:
            text = f"TRUSTED_PROXIES is {root.trusted_proxies!r}, and no setting contradicts it."
        yield Finding(area=area, state=OK, text=text)


def _finding(message: CheckMessage) -> Finding:
    check = message.id or ""
    own = CHECKS.get(check)
    is_ours = check.startswith("authservice.")
    page = f"docs: reference/checks, {check}" if is_ours else f"{_DJANGO}, {check}"
    is_grave = own.grave if own else check in _GRAVE_OF_DJANGO
    hint = message.hint or "Correct the setting that the message names."
    return Finding(
        area=own.area if own else _AREA_OF_DJANGO.get(check, "settings"),
        state=BROKEN if message.level >= ERROR or is_grave else ATTENTION,
        text=str(message.msg),
        remedy=f"{hint} ({page})",
        check=check,
    )
