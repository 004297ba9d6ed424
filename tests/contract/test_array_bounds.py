"""No array of the API is without a limit: one user cannot fill the memory of a server.

Every described operation that answers an array is tested with a thousand rows of the caller's own
making: a new one must be listed in `ROWS`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.utils import timezone

from authservice.core.models import Account, Session
from authservice.core.users.identifiers import email_key
from authservice.openapi.document import describe
from tests.support.client import Api
from tests.support.people import the_user, unsaved
from tests.support.statements import statements

MODULES = ("organization", "invitation")
INSTALLED = all(apps.is_installed(f"authservice.{name}") for name in MODULES)
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not INSTALLED, reason=f"most arrays are of {' and '.join(MODULES)}"),
]
MANY = 1000
LARGEST = 256 * 1024  # bytes
ANN = "ann@example.com"


def model(name: str) -> Any:
    return apps.get_model(name)


def organizations(founder: Any) -> list[Any]:
    rows = model("authservice_organization.Organization")
    return rows.objects.bulk_create(
        rows(
            name=f"Organization {number}",
            slug=f"organization-{number}",
            founder=founder,
            logo_url="https://images.example.com/organizations/logo.png",
            metadata='"' + "x" * 2046 + '"',
        )
        for number in range(MANY)
    )


def joined(ann: Any) -> str:
    members = model("authservice_organization.Membership")
    made = organizations(ann)
    members.objects.bulk_create(members(organization=one, user=ann, role="owner") for one in made)
    return str(made[0].pk)


def members(ann: Any) -> str:
    acme = joined(ann)
    users = get_user_model().objects.bulk_create(
        unsaved(f"user{number}@example.com") for number in range(MANY)
    )
    Account.objects.bulk_create(
        Account(user=user, email=f"user{at}@example.com", name=f"User {at}")
        for at, user in enumerate(users)
    )
    rows = model("authservice_organization.Membership")
    rows.objects.bulk_create(rows(organization_id=acme, user=user, role="member") for user in users)
    return acme


def invited(ann: Any) -> str:
    acme = joined(ann)
    rows = model("authservice_organization.OrganizationInvitation")
    rows.objects.bulk_create(rows(organization_id=acme, **invitation(ann)) for _ in range(MANY))
    return acme


def invitation(ann: Any) -> dict[str, Any]:
    expires = timezone.now() + timedelta(days=1)
    return {"email": ANN, "email_key": email_key(ANN), "inviter": ann, "expires_at": expires}


def invited_to_the_service(ann: Any) -> str:
    rows = model("authservice_invitation.PlatformInvitation")
    metadata = '"' + "x" * 2046 + '"'
    rows.objects.bulk_create(rows(metadata=metadata, **invitation(ann)) for _ in range(MANY))
    return ""


def signed_in(ann: Any) -> str:
    row = Session.objects.get(user=ann)
    made = []
    for _ in range(MANY):
        made.append(Session.objects.get(pk=row.pk))
        made[-1].pk = None
        made[-1].id = Session._meta.pk.get_default()
        made[-1].user_agent = "x" * 512
    Session.objects.bulk_create(made)
    return ""


ROWS: dict[str, Callable[[Any], str]] = {
    "/org/my": joined,
    "/org/my/invitations": invited,
    "/org/{org_id}/members": members,
    "/org/{org_id}/invitations": invited,
    "/invitations/my": invited_to_the_service,
    "/sessions": signed_in,
}
# Arrays of what a user may have a few of only; a test beside the module holds the limit.
LIMITED = {"/passkeys"}


def arrays() -> list[str]:
    """The paths of GET operations whose data is an array."""
    paths = describe()["paths"]
    described = {path for path in paths if "get" in paths[path] and is_array(paths[path]["get"])}
    return sorted(described - LIMITED)


def is_array(operation: dict[str, Any]) -> bool:
    content = operation["responses"].get("200", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    return schema.get("properties", {}).get("data", {}).get("type") == "array"


ARRAYS = arrays() if INSTALLED else []


def test_every_array_is_listed():
    assert set(ARRAYS) <= set(ROWS)
    assert {"/org/my", "/org/{org_id}/members", "/invitations/my"} <= set(ARRAYS)


@pytest.mark.parametrize("path", ARRAYS)
def test_array_of_a_thousand_rows_is_bounded(api: Api, path: str):
    token = api.sign_up(ANN)["access_token"]
    org_id = ROWS[path](the_user(ANN))
    at, answers = path.removeprefix("/").replace("{org_id}", org_id), []

    texts = statements(lambda: answers.append(api.get(at, token=token)))

    [answer] = answers
    assert (answer.status, len(answer.data)) == (200, 100)
    assert int(answer.headers["X-Total-Count"]) >= MANY
    assert len(answer.response.content) < LARGEST
    # Each statement reads a page, one row or a count.
    unbounded = [
        text for text in texts if not any(word in text for word in ("LIMIT", "COUNT(", " = "))
    ]
    assert not unbounded
    assert any("LIMIT 100" in text for text in texts)


@pytest.mark.parametrize("path", ARRAYS)
@pytest.mark.parametrize("query", ["limit=0", "limit=x", "offset=-1"])
def test_wrong_page_is_a_validation_error(api: Api, path: str, query: str):
    token = api.sign_up(ANN)["access_token"]
    made = api.request("POST", "org", {"name": "Acme"}, token=token).data
    at = path.removeprefix("/").replace("{org_id}", made["id"])

    assert api.get(f"{at}?{query}", token=token).error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("path", ARRAYS)
def test_pages_of_an_array_follow_each_other(api: Api, path: str):
    token = api.sign_up(ANN)["access_token"]
    at = path.removeprefix("/").replace("{org_id}", ROWS[path](the_user(ANN)))

    ids = [row["id"] for row in api.get(f"{at}?limit=100&offset=50", token=token).data]

    first = [row["id"] for row in api.get(f"{at}?limit=1000", token=token).data]
    assert len(first) == len(ids) == 100
    assert first[50:] == ids[:50]
