"""Ids of another organization: nothing is read or changed, whatever route and method are tried.

The routes come from the URLconf, so a new one is included.
"""

import re

import pytest

from authservice.organization.models import Membership, Organization, OrganizationInvitation
from tests.organization.inside.people import Person, join
from tests.support.routes import endpoints

pytestmark = pytest.mark.django_db

PARAMETER = re.compile(r"<str:(\w+)>")
PATHS = sorted(path for path, view in endpoints() if path.startswith("org/<str:org_id>"))
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
BODY = {"name": "Taken", "role": "owner", "email": "thief@example.com"}
UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"


class Tenant:
    """An organization with an owner, a member and an invitation."""

    def __init__(self, api, name):
        self.owner, self.other = Person(api, f"{name}-owner"), Person(api, f"{name}-member")
        self.org_id = self.owner.found(name)
        join(self.org_id, self.other)
        invited = self.owner.post(f"org/{self.org_id}/invite", email=f"{name}@example.com")
        self.ids = {
            "org_id": self.org_id,
            "user_id": self.other.id,
            "invitation_id": invited.data["id"],
        }


def stored():
    models = (Organization, Membership, OrganizationInvitation)
    return [list(model.objects.order_by("pk").values()) for model in models]


def filled(path, ids):
    return PARAMETER.sub(lambda found: ids[found[1]], path)


@pytest.fixture
def tenants(api):
    return Tenant(api, "acme"), Tenant(api, "other")


def shown(answer):
    """The response without what differs in each: the ids in it."""
    return answer.status, answer.response.content


def test_urlconf_has_the_routes_of_organizations():
    assert len(PATHS) >= 7


@pytest.mark.parametrize("role", ["member", "admin", "owner"])
def test_member_of_one_organization_does_not_reach_another(api, tenants, role):
    acme, other = tenants
    thief = Person(api, "thief")
    join(acme.org_id, thief, role)
    before, secrets = stored(), {*other.ids.values(), other.owner.email, other.other.email}

    for path in PATHS:
        for method in METHODS:
            answer = thief.request(
                method, filled(path, other.ids), BODY if method != "GET" else None
            )

            assert answer.status in (403, 405), (method, path)
            assert not any(
                secret in answer.response.content.decode() for secret in secrets if len(secret) > 5
            )
    assert stored() == before


@pytest.mark.parametrize("name", ["user_id", "invitation_id"])
def test_foreign_id_in_the_own_organization_looks_unknown(tenants, name):
    """Nobody learns from a response whether an id exists elsewhere."""
    acme, other = tenants
    unknown = UNKNOWN if name == "invitation_id" else "99999999"
    before = stored()

    for path in (path for path in PATHS if f"<str:{name}>" in path):
        for method in METHODS:
            body = BODY if method != "GET" else None
            foreign = acme.owner.request(
                method, filled(path, {**acme.ids, name: other.ids[name]}), body
            )
            missing = acme.owner.request(method, filled(path, {**acme.ids, name: unknown}), body)

            assert foreign.status in (404, 405), (method, path)
            assert shown(foreign) == shown(missing), (method, path)
    assert stored() == before


def test_outsider_learns_of_no_member_and_invitation(api, tenants):
    """With the id of an organization, every further id is answered alike."""
    acme, _ = tenants
    thief = Person(api, "thief")

    for path in (path for path in PATHS if path.count("<") > 1):
        for method in METHODS:
            body = BODY if method != "GET" else None
            real = thief.request(method, filled(path, acme.ids), body)
            made_up = {**acme.ids, "user_id": "99999999", "invitation_id": UNKNOWN}
            assert shown(real) == shown(thief.request(method, filled(path, made_up), body))
