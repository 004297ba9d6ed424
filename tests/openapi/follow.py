"""Follows each link of the API description once, in a host with every module.

schemathesis generates the requests, takes the values of a link from the response before, and checks
every response. Its own random walks follow few links, because most requests need the id of a row
that exists. So this program goes to the answer that has a link by the shortest way, each time with
a new super admin, who has an organization and invitations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import django
from django.conf import settings

django.setup()

import schemathesis  # noqa: E402 after django.setup
from django.test.utils import get_runner, override_settings  # noqa: E402
from hypothesis import HealthCheck, Phase, given  # noqa: E402
from hypothesis import settings as generation  # noqa: E402
from schemathesis.config import SchemathesisConfig  # noqa: E402
from schemathesis.core.failures import Failure, FailureGroup  # noqa: E402
from schemathesis.generation.stateful.state_machine import StepOutput  # noqa: E402
from schemathesis.specs.openapi.stateful import collect_transitions  # noqa: E402

from authservice.testing import ApiClient, UserFactory, mailbox  # noqa: E402
from tests.openapi.fuzz import CHECKS  # noqa: E402
from tests.support.client import Api, csrf_pair  # noqa: E402
from tests.support.serving import served  # noqa: E402

# How many generated requests of one operation may be refused, for example because the top-level
# domain of an address does not exist.
ATTEMPTS = 10
SUCCESS = range(200, 300)


@dataclass
class Result:
    """The links that a request was sent for, those of them that succeeded, and what was found."""

    followed: set[str] = field(default_factory=set)
    succeeded: set[str] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)
    requests: int = 0


class Follower:
    """Sends requests as one super admin."""

    def __init__(self, result: Result) -> None:
        self.result = result
        user, other = UserFactory(is_super_admin=True), UserFactory()
        token, others = (_token(one) for one in (user, other))
        self.headers = csrf_pair({"Authorization": f"Bearer {token}"})
        api = Api()
        organization = api.post("org", token=token, name="Acme").data
        invited = f"bob{user.pk}@example.com"
        api.post(f"org/{organization['id']}/invite", token=token, email=invited, role="member")
        api.post("invitations", token=token, email=invited)
        api.post("invitations", token=others, email=user.email)

    def send(
        self, operation: Any, link: Any = None, before: Any = None, **fixed: Any
    ) -> StepOutput | None:
        """The first successful response of a few generated requests with the values of `link`, or
        the last response. None if the response before has no such values. `fixed` are parts of the
        requests that are not generated, such as filters, by which a list would be empty."""
        values = _values(link, before) if link else {}
        if values is None:
            return None
        output = None
        for case in _cases(operation, {**fixed, **values}):
            case.headers = {**(case.headers or {}), **self.headers}
            self.result.requests += 1
            response = case.call()
            try:
                case.validate_response(response)
            except (Failure, FailureGroup) as failure:
                self.result.findings.append(f"{operation.label}: {failure}")
            output = StepOutput(response, case)
            if response.status_code in SUCCESS:
                break
        return output

    def go(self, way: list[Any]) -> StepOutput | None:
        """The response to the last request of a way: an operation, and links from there."""
        root, *links = way
        output = self.send(root, query={})
        for link in links:
            output = output and self.send(link.target, link, output, query={})
        return output


def _token(user: Any) -> str:
    return str(ApiClient().log_in(user).tokens.access_token.reveal())


def _cases(operation: Any, values: dict[str, dict[str, Any]]) -> Iterator[Any]:
    """Generated valid requests with these values, the same in each run."""
    body = values.pop("body", {})
    cases: list[Any] = []

    @given(case=operation.as_strategy(**values))
    @generation(
        max_examples=ATTEMPTS,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    def collect(case: Any) -> None:
        cases.append(case)

    collect()
    for case in cases:
        if body and isinstance(case.body, dict):
            case.body |= body
        yield case


def _values(link: Any, before: StepOutput) -> dict[str, dict[str, Any]] | None:
    """What a link takes from a response, by where the request has it. None if a value is absent."""
    transition = link.extract(before)
    values = {
        container: {name: extracted.value.ok() for name, extracted in parameters.items()}
        for container, parameters in transition.parameters.items()
    }
    if transition.request_body:
        body = transition.request_body.value.ok()
        values["body"] = body if isinstance(body, dict) else {"": body}
    texts = [value for entries in values.values() for value in entries.values()]
    return values if all(isinstance(text, str) and text for text in texts) else None


def follow(url: str) -> Result:
    config = SchemathesisConfig.from_dict({"checks": CHECKS})
    schema = schemathesis.openapi.from_url(url + "openapi.json", config=config)
    operations = [result.ok() for result in schema.get_all_operations()]
    links = collect_transitions(operations).operations
    result = Result()
    # How to get a successful response of an operation.
    ways = {one.label: [one] for one in operations if not one.path_parameters}
    sources = [label for label in ways if label in links]
    for label in sources:
        for link in links[label].outgoing:
            follower = Follower(result)
            before = follower.go(ways[label])
            if before is None or f"{before.response.status_code}" != link.status_code:
                continue
            output = follower.send(link.target, link, before)
            if output is None:
                continue
            result.followed.add(link.full_name)
            if output.response.status_code in SUCCESS:
                result.succeeded.add(link.full_name)
                if link.target.label not in ways:
                    ways[link.target.label] = [*ways[label], link]
                    sources += [link.target.label] if link.target.label in links else []
    return result


def main() -> None:
    runner = get_runner(settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    section = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}
    try:
        with override_settings(AUTHSERVICE=section), mailbox(), served(threads=False) as url:
            result = follow(url)
    finally:
        runner.teardown_databases(databases)
    print(*dict.fromkeys(result.findings), sep="\n\n")
    print(f"{len(result.followed)} links followed, {len(result.succeeded)} with success")
    print(f"{result.requests} requests, {len(result.findings)} findings")
    sys.exit(bool(result.findings))


if __name__ == "__main__":
    main()
