"""One run of `authservice_doctor`: the findings of all examinations by area, without secrets."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain
from time import monotonic
from typing import Any
from urllib.parse import unquote, unquote_plus, urlsplit

from django.conf import settings
from django.views.debug import SafeExceptionReporterFilter

from authservice.core.doctor.examinations import (
    examine_cache,
    examine_cleanup,
    examine_databases,
    examine_keys,
    examine_migrations,
    examine_settings,
)
from authservice.kernel import checks, clock
from authservice.kernel.checks import BROKEN, OK, STATES, Finding, Visit, fault_of
from authservice.kernel.settings import SETTING

AREAS = (
    *("settings", "database", "migrations", "cache", "keys", "mail", "worker"),
    *("cleanup", "clock", "proxies", "cookies", "providers"),
)
# Databases first: without them the others read nothing.
_OF_CORE = (
    examine_databases,
    examine_migrations,
    examine_cache,
    examine_keys,
    examine_cleanup,
    examine_settings,
)
_Examination = Callable[[Visit], Iterator[Finding]]
_HIDDEN = "********"
# A shorter text is not hidden: it may be part of any word.
_SHORTEST = 4
# Patterns for names of settings. They match the last word, which says what the value is.
_URL = re.compile("(^|_)UR[IL]S?$", re.IGNORECASE)
_PUBLIC = re.compile(
    "(^|_)(PATH|NAME|MODEL|CLASS|CLASSES|BACKENDS?|STORAGE|HASHERS|VALIDATORS)$", re.IGNORECASE
)
# A dict whose own keys are the names of partners or environments.
_DICT_OF_SECRETS = re.compile("(KEY|SECRET|TOKEN|PASSWORD)S?$", re.IGNORECASE)
# Between two URLs of one text, such as the servers of a broker.
_NEXT_URL = re.compile(r"[,;\s]+(?=[\w+.-]+://)")
# The address of a server and nothing else.
_ORIGIN = re.compile(r"https?://[\w.:\[\]-]+/?")


@dataclass(frozen=True)
class Report:
    """The findings of a run and how many seconds it took."""

    findings: tuple[Finding, ...]
    seconds: float

    @property
    def state(self) -> str:
        return _worst(self.findings)

    def by_area(self) -> Iterator[tuple[str, str, list[Finding]]]:
        """Each examined area with its state and its findings, the gravest first."""
        other_areas = sorted({finding.area for finding in self.findings} - set(AREAS))
        for area in (*AREAS, *other_areas):
            findings = [finding for finding in self.findings if finding.area == area]
            if findings:
                state = _worst(findings)
                yield area, state, sorted(findings, key=lambda it: -STATES.index(it.state))

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values; `findings` of an area that is ok are sentences about it."""
        areas = []
        for area, state, findings in self.by_area():
            rows = [
                {name: text for name, text in asdict(finding).items() if text and name != "area"}
                for finding in findings
            ]
            areas.append({"area": area, "state": state, "findings": rows})
        return {"state": self.state, "seconds": round(self.seconds, 1), "areas": areas}


def examine(send_to: str = "") -> Report:
    """Run all examinations. One that fails is a finding too. `send_to` is the address to which a
    test mail is sent."""
    begun = monotonic()
    visit = Visit(send_to=send_to)
    findings: list[Finding] = []
    of_core = ((examination.__name__, examination) for examination in _OF_CORE)
    with _quiet():
        for name, examination in chain(of_core, checks.examinations_of_modules()):
            findings += _findings(name, examination, visit)
    # Servers may quote anything in an error, such as the URL with a password. The longest come
    # first: one secret may be part of another.
    secrets = sorted(set(_secrets()), key=len, reverse=True)
    redacted = tuple(
        replace(
            finding,
            text=_hidden(finding.text, secrets),
            settings=_hidden(finding.settings, secrets),
            remedy=_hidden(finding.remedy, secrets),
        )
        for finding in findings
    )
    return Report(redacted, monotonic() - begun)


def _findings(name: str, examination: _Examination, visit: Visit) -> list[Finding]:
    findings: list[Finding] = []
    try:
        with clock.unit():
            findings.extend(examination(visit))  # keeps what it yields before it fails
    except Exception as error:
        findings.append(
            Finding(
                area="settings",
                state=BROKEN,
                text=f"The examination {name} failed: {fault_of(error)}",
                settings="what the error names",
                remedy="Run `manage.py check`, which may show the cause, and `manage.py migrate`."
                " If neither helps, report the error with this line.",
            )
        )
    return findings


@contextmanager
def _quiet() -> Iterator[None]:
    """Log nothing: what loggers would say of a failed call is a finding."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _worst(findings: Iterable[Finding]) -> str:
    return max((finding.state for finding in findings), key=STATES.index, default=OK)


def _hidden(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    return text


def _secrets() -> Iterator[str]:
    """The values of settings that are secret by their names, and passwords and keys in URLs."""
    for name in dir(settings):
        if name.isupper():
            value = getattr(settings, name)
            for secret in _secrets_in(name, value, of_service=name == SETTING):
                if len(secret) >= _SHORTEST:
                    yield secret


def _secrets_in(
    name: str, value: Any, *, of_service: bool, all_secret: bool = False
) -> Iterator[str]:
    """The secret texts in a value. `of_service` is true for values in `AUTHSERVICE`, `all_secret`
    for those in a dict such as `API_KEYS`, whose own keys are the names of partners."""
    if isinstance(value, Mapping):
        of_secrets = all_secret or (not of_service and bool(_DICT_OF_SECRETS.search(name)))
        for key, entry in value.items():
            yield from _secrets_in(str(key), entry, of_service=of_service, all_secret=of_secrets)
    elif isinstance(value, list | tuple | set | frozenset):
        for entry in value:
            yield from _secrets_in(name, entry, of_service=of_service, all_secret=all_secret)
    elif isinstance(value, bytes):
        yield from _secrets_in(
            name, value.decode("latin-1"), of_service=of_service, all_secret=all_secret
        )
    elif isinstance(value, str):
        if all_secret or _is_secret(name, value, of_service=of_service):
            yield value
        yield from _credentials(value)


def _is_secret(name: str, text: str, *, of_service: bool) -> bool:
    """Whether Django's error pages hide a setting of this name, except for public values: Django's
    pattern also has names such as `API_URL` and `AUTH_USER_MODEL`, which a finding must show."""
    if not SafeExceptionReporterFilter.hidden_settings.search(name):
        return False
    if "SECRET" in name.upper():
        return True
    if _URL.search(name):
        # The path of a URL may be secret, such as that of a webhook. URLs in `AUTHSERVICE` have no
        # secret path.
        return not (of_service or _ORIGIN.fullmatch(text))
    return not _PUBLIC.search(name)


def _credentials(text: str) -> Iterator[str]:
    """The passwords of the URLs in a text, or a user name with the "@" if it has no password, and
    the values of parameters such as `api_key`."""
    for address in _NEXT_URL.split(text) if "://" in text else ():
        try:
            url = urlsplit(address)
            user, password = url.username or "", url.password or ""
        except ValueError:
            continue
        if password:
            yield from (password, unquote(password))
        elif user:
            yield from (f"{user}:@", f"{user}@")
        for parameter in url.query.split("&"):
            name, _, secret = parameter.partition("=")
            if SafeExceptionReporterFilter.hidden_settings.search(name):
                yield from (secret, unquote_plus(secret))
