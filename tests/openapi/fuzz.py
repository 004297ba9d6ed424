"""`python -m tests.fuzz.api --minutes 10 --login session` sends thousands of requests.

It starts this program in a host with every module.

schemathesis reads the OpenAPI description, sends valid and invalid requests to the project, and
follows links from one response to the next request. All of its checks are enabled. Each request
has its own super admin, so that a logout or a deletion does not affect the others.
"""

from __future__ import annotations

import json
import math
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import django
from django.conf import settings

django.setup()

import schemathesis  # noqa: E402 after django.setup
from django.test.utils import get_runner, override_settings  # noqa: E402
from schemathesis.config import SchemathesisConfig  # noqa: E402
from schemathesis.core.failures import Failure  # noqa: E402
from schemathesis.engine import events, from_schema  # noqa: E402

from authservice.core.api.serializers import SixDigits, Url  # noqa: E402
from authservice.core.users import identifiers  # noqa: E402
from authservice.kernel.http.fields import JsonText  # noqa: E402
from authservice.testing import ApiClient, UserFactory, mailbox  # noqa: E402
from tests.support.client import csrf_pair  # noqa: E402
from tests.support.serving import served  # noqa: E402

# A schema defines which requests are well formed, not which secrets exist or which names are free:
# a valid request may get a 400. `well_formed` below defines which 400 may not occur.
CHECKS = {
    "positive_data_acceptance": {
        "expected-statuses": ["2xx", "3xx", "400", "401", "403", "404", "409", "501"]
    }
}
# Rules that a schema cannot express: assigned phone numbers, valid domain names, texts of JSON, and
# the state of a user.
_UNDESCRIBED = (
    identifiers.PHONE_RULE,
    identifiers.NEW_EMAIL_RULE,
    *Url.default_error_messages.values(),
    JsonText.default_error_messages["json"],
    "The user is suspended.",
    "At least one field to change is required.",
    SixDigits.default_error_messages["digits"],
    "that could be verified.",
)
_FORM = {"INVALID_JSON", "INVALID_REQUEST_BODY", "VALIDATION_ERROR"}


@schemathesis.check
def well_formed(context: Any, response: Any, case: Any) -> None:
    """A request that the description allows is never refused for its form."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if response.status_code != 400 or any(rule in response.text for rule in _UNDESCRIBED):
        return
    if _code(response.content) in _FORM:
        raise Failure(operation=case.operation.label, title="Refused for its form", message="")


def _code(content: bytes) -> str:
    return str(json.loads(content)["data"]["code"])


class SuperAdmin:
    """Creates and logs in a new super admin for each request."""

    def get(self, case: Any, context: Any) -> str:
        user = UserFactory(is_super_admin=True)
        return str(ApiClient().log_in(user).tokens.access_token.reveal())

    def set(self, case: Any, token: str, context: Any) -> None:
        headers = csrf_pair({"Authorization": f"Bearer {token}"})
        case.headers = {**(case.headers or {}), **headers}


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """The CSRF check comes first: a request without a bearer token needs a CSRF pair."""
    headers = case.headers or {}
    if "Authorization" not in headers:
        case.headers = {**headers, **csrf_pair({})}


# What each phase is for:
# - examples: the example of each body, which the documentation shows, is accepted.
# - coverage: each rule of each field, kept and broken at its limits, one at a time. It is the same
#   for every seed, and most of all requests.
# - fuzzing: random combinations, valid and invalid.
# - stateful: values of a response in the next request, such as the id of a created row.
FULL: dict[str, Any] = {}
# Valid requests at the limits, and a few random invalid ones: to break each rule of each field
# takes half of all requests.
SMOKE = {
    "coverage": {"generation": {"mode": "positive"}},
    "fuzzing": {"generation": {"mode": "negative", "max-examples": 4}},
}
FURTHER = {"coverage": {"enabled": False}, "examples": {"enabled": False}}


@dataclass
class Result:
    """The requests of each phase, the findings, and the operations that got no request."""

    sent: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)


def fuzz(
    url: str, phases: dict[str, Any], *, examples: int, seed: int, until: float = math.inf
) -> Result:
    """Ends early at the time `until`."""
    config = SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "generation": {"max-examples": examples},
            "checks": CHECKS,
            "phases": phases,
        }
    )
    schema = schemathesis.openapi.from_url(url + "openapi.json", config=config)
    result = Result(missing={found.ok().label for found in schema.get_all_operations()})
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            result.sent[event.phase.value] += len(event.recorder.interactions)
            result.missing -= {case.value.operation.label for case in event.recorder.cases.values()}
            result.found += _failures(event.recorder)
        elif isinstance(event, events.NonFatalError):
            result.found.append(f"{event.label}: {event.info.format()}")
        elif isinstance(event, events.FatalError):
            raise event.exception
        if time.monotonic() > until:
            break
    return result


def rounds(url: str, *, minutes: float, examples: int, seed: int) -> Result:
    """Everything once, then random requests with further seeds until the time is over."""
    until = time.monotonic() + 60 * minutes
    result = fuzz(url, FULL, examples=examples, seed=seed, until=until)
    while time.monotonic() < until:
        seed += 1
        more = fuzz(url, FURTHER, examples=examples, seed=seed, until=until)
        result.sent += more.sent
        result.found += more.found
    return result


def _failures(recorder: Any) -> Iterator[str]:
    for case, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info:
                failure = check.failure_info.failure
                yield "\n".join(
                    (
                        f"{recorder.label}: {check.name}: {failure.title}",
                        failure.message,
                        _shown(recorder.interactions[case]),
                    )
                )


def _shown(interaction: Any) -> str:
    request, response = interaction.request, interaction.response
    return (
        f"  {request.method} {request.uri} {request.body!r}\n"
        f"  {response and (response.status_code, response.content[:300])}"
    )


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.openapi.fuzz")
    parser.add_argument("--examples", type=int, default=30, help="of each operation")
    parser.add_argument("--seed", type=int, default=1)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--minutes", type=float, default=0, help="repeat with further seeds")
    how.add_argument("--smoke", action="store_true", help="fewer requests, to every operation")
    chosen = parser.parse_args()
    schemathesis.auth(refresh_interval=None)(SuperAdmin)
    runner = get_runner(settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    section = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}
    try:
        with override_settings(AUTHSERVICE=section), mailbox(), served(threads=False) as url:
            result = _run(url, chosen)
    finally:
        runner.teardown_databases(databases)
    findings = list(dict.fromkeys(result.found))
    print(*findings, sep="\n\n")
    print(f"{len(result.missing)} operations without a request: {sorted(result.missing)}")
    sent, by_phase = result.sent.total(), dict(result.sent)
    print(f"{sent} requests ({by_phase}), {len(findings)} findings")
    sys.exit(bool(findings))


def _run(url: str, chosen: Namespace) -> Result:
    how = {"examples": chosen.examples, "seed": chosen.seed}
    if chosen.minutes:
        return rounds(url, minutes=chosen.minutes, **how)
    return fuzz(url, SMOKE if chosen.smoke else FULL, **how)


if __name__ == "__main__":
    main()
