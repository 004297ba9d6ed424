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
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import django
from django.conf import settings

django.setup()

import schemathesis  # noqa: E402 after django.setup
from django.test.utils import get_runner, override_settings  # noqa: E402
from schemathesis.config import SchemathesisConfig  # noqa: E402
from schemathesis.core.failures import Failure  # noqa: E402
from schemathesis.engine import events, from_schema  # noqa: E402

from authservice.core.api.serializers import Url  # noqa: E402
from authservice.core.users import identifiers  # noqa: E402
from authservice.kernel.http.fields import JsonText  # noqa: E402
from authservice.testing import ApiClient, UserFactory, mailbox  # noqa: E402
from tests.support.client import csrf_pair  # noqa: E402
from tests.support.serving import served  # noqa: E402

# A schema defines which requests are well formed, not which secrets exist or which names are free:
# a valid request may get a 400. `well_formed` below defines which 400 may not occur.
_ACCEPTED = ["2xx", "3xx", "400", "401", "403", "404", "409", "501"]
# Rules that a schema cannot express: assigned phone numbers, valid domain names, texts of JSON, and
# the state of a user.
_UNDESCRIBED = (
    identifiers.PHONE_RULE,
    identifiers.NEW_EMAIL_RULE,
    *Url.default_error_messages.values(),
    JsonText.default_error_messages["json"],
    "The user is suspended.",
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
    headers, security = case.headers or {}, case.operation.definition.raw.get("security")
    if security != [{"guard": []}] and "Authorization" not in headers:
        case.headers = {**headers, **csrf_pair({})}


# What each phase is for:
# - examples: the example of each body, which the documentation shows, is accepted.
# - coverage: each rule of each parameter and body at its limits, one at a time. It is the same for
#   every seed, and two thirds of all requests.
# - fuzzing: random combinations, valid and invalid.
# - stateful: values of a response in the next request, such as the id of a created row.
def _config(examples: int, seed: int, skipped: Collection[str]) -> SchemathesisConfig:
    return SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "generation": {"max-examples": examples},
            "checks": {"positive_data_acceptance": {"expected-statuses": _ACCEPTED}},
            "phases": {name: {"enabled": False} for name in skipped},
        }
    )


def fuzz(
    url: str, *, examples: int, seed: int, skipped: Collection[str] = (), until: float = math.inf
) -> tuple[Counter[str], list[str]]:
    """The number of requests of each phase, and the findings. Ends early at the time `until`."""
    config = _config(examples, seed, skipped)
    schema = schemathesis.openapi.from_url(url + "openapi.json", config=config)
    sent: Counter[str] = Counter()
    found: list[str] = []
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            sent[event.phase.value] += len(event.recorder.interactions)
            found += _failures(event.recorder)
        elif isinstance(event, events.NonFatalError):
            found.append(f"{event.label}: {event.info.format()}")
        elif isinstance(event, events.FatalError):
            raise event.exception
        if time.monotonic() > until:
            break
    return sent, found


def rounds(url: str, *, minutes: float, examples: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Repeat `fuzz` with further seeds until the time is over."""
    until = time.monotonic() + 60 * minutes
    sent, found = fuzz(url, examples=examples, seed=seed, until=until)
    while time.monotonic() < until:
        seed += 1
        more, wrong = fuzz(url, examples=examples, seed=seed, skipped=["coverage"], until=until)
        sent, found = sent + more, found + wrong
    return sent, found


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
    parser.add_argument("--minutes", type=float, default=0, help="repeat with further seeds")
    chosen = parser.parse_args()
    schemathesis.auth(refresh_interval=None)(SuperAdmin)
    runner = get_runner(settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    section = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}
    how = {"examples": chosen.examples, "seed": chosen.seed}
    try:
        with override_settings(AUTHSERVICE=section), mailbox(), served(threads=False) as url:
            if chosen.minutes:
                sent, found = rounds(url, minutes=chosen.minutes, **how)
            else:
                sent, found = fuzz(url, **how)
    finally:
        runner.teardown_databases(databases)
    findings = list(dict.fromkeys(found))
    print(*findings, sep="\n\n")
    print(f"{sent.total()} requests ({dict(sent)}), {len(findings)} findings")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
