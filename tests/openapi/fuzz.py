"""`TEST_HOST=everything python -m tests.openapi.fuzz` asks thousands of things by the description.

schemathesis reads the description, sends what it allows and what it forbids to the project that
wrote it, and walks along what leads from one answer to the next request. All of its checks are on.
Each request is made by a super admin of its own, so that a logout or a deletion spoils no other.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from typing import Any

import django
from django.conf import settings

django.setup()

import schemathesis  # noqa: E402 Django comes first
from django.test.utils import get_runner, override_settings  # noqa: E402
from schemathesis.config import SchemathesisConfig  # noqa: E402
from schemathesis.core.failures import Failure  # noqa: E402
from schemathesis.engine import events, from_schema  # noqa: E402

from authservice.core.api.serializers import Url  # noqa: E402
from authservice.core.users import identifiers  # noqa: E402
from authservice.testing import ApiClient, UserFactory, mailbox  # noqa: E402
from tests.client import csrf_pair  # noqa: E402
from tests.serving import served  # noqa: E402

# A schema promises which requests are well formed, not which secrets exist or which names are free:
# a 400 may answer a request that is as described. `well_formed` below says which 400 may not.
_ACCEPTED = ["2xx", "3xx", "400", "401", "403", "404", "409", "501"]
# What a schema cannot say: which numbers a country gives out, which names a domain can have, and
# how somebody stands by now.
_BEYOND = (
    identifiers.PHONE_RULE,
    identifiers.NEW_EMAIL_RULE,
    *Url.default_error_messages.values(),
    "The user is suspended.",
    "that could be verified.",
)
_FORM = {"INVALID_JSON", "INVALID_REQUEST_BODY", "VALIDATION_ERROR"}


@schemathesis.check
def well_formed(context: Any, response: Any, case: Any) -> None:
    """What the description allows is never refused for its form."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if response.status_code != 400 or any(rule in response.text for rule in _BEYOND):
        return
    if _code(response.content) in _FORM:
        raise Failure(operation=case.operation.label, title="Refused for its form", message="")


def _code(content: bytes) -> str:
    return str(json.loads(content)["data"]["code"])


class SuperAdmin:
    """Signs somebody new in for each request."""

    def get(self, case: Any, context: Any) -> str:
        user = UserFactory(is_super_admin=True)
        return str(ApiClient().sign_in(user).tokens.access_token.reveal())

    def set(self, case: Any, token: str, context: Any) -> None:
        headers = csrf_pair({"Authorization": f"Bearer {token}"})
        case.headers = {**(case.headers or {}), **headers}


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """The guard is asked first: who is to be seen without a token must come with a CSRF pair."""
    headers, asked = case.headers or {}, case.operation.definition.raw.get("security")
    if asked != [{"guard": []}] and "Authorization" not in headers:
        case.headers = {**headers, **csrf_pair({})}


def fuzz(url: str, *, examples: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many requests each phase made, and what was found."""
    config = SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "generation": {"max-examples": examples},
            "checks": {"positive_data_acceptance": {"expected-statuses": _ACCEPTED}},
        }
    )
    schema = schemathesis.openapi.from_url(url + "openapi.json", config=config)
    schemathesis.auth(refresh_interval=None)(SuperAdmin)
    made: Counter[str] = Counter()
    found: list[str] = []
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            made[event.phase.value] += len(event.recorder.interactions)
            found += _failures(event.recorder)
        elif isinstance(event, events.NonFatalError):
            found.append(f"{event.label}: {event.info.format()}")
        elif isinstance(event, events.FatalError):
            raise event.exception
    return made, list(dict.fromkeys(found))


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
    asked, answered = interaction.request, interaction.response
    return (
        f"  {asked.method} {asked.uri} {asked.body!r}\n"
        f"  {answered and (answered.status_code, answered.content[:300])}"
    )


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.openapi.fuzz")
    parser.add_argument("--examples", type=int, default=30, help="of each operation")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    runner = get_runner(settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    section = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}
    try:
        with override_settings(AUTHSERVICE=section), mailbox(), served(threads=False) as url:
            made, found = fuzz(url, examples=chosen.examples, seed=chosen.seed)
    finally:
        runner.teardown_databases(databases)
    print(*found, sep="\n\n")
    print(f"{made.total()} requests ({dict(made)}), {len(found)} findings")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
