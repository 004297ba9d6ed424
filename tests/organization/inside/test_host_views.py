"""Views of the host project: the organization of the token, checked against the membership."""

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

from authservice.organization.decorators import organization_role_required
from authservice.organization.models import Membership, Organization
from authservice.organization.owned import OwnedQuerySet
from authservice.organization.permissions import HasOrganizationRole
from tests.csrf.installed import installed
from tests.csrf.visitor import ACCESS
from tests.organization.inside.people import join
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

MEMBERS = ["/rest/members", "/plain/members", "/async/members", "/rest/either"]
ADMINS = ["/rest/admins", "/plain/admins", "/async/admins"]
each_view = pytest.mark.parametrize("path", MEMBERS + ADMINS)


def get(path, token=""):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return Client().get(path, headers=headers)


def refusal(answer):
    """Status and code; the REST framework has the code in another place."""
    body = answer.json()
    return answer.status_code, body["data"]["code"] if "data" in body else body["detail"]


@each_view
def test_owner_reaches_every_view(ann, acme, path):
    ann.switch(acme)

    assert get(path, ann.token).json() == {"slug": "acme", "role": "owner"}


@pytest.mark.parametrize("path", ADMINS)
def test_role_below_the_required_one_is_refused(acme, member, path):
    member.switch(acme)

    status, text = refusal(get(path, member.token))

    assert status == 403
    assert text in {"ORG_INSUFFICIENT_ROLE", "Your role in this organization does not permit this."}


@each_view
def test_user_without_an_active_organization_is_refused(ann, acme, path):
    assert get(path, ann.token).status_code == 403


@each_view
def test_request_without_a_token_is_unauthorized(acme, path):
    assert get(path).status_code == 401
    assert get(path, "nonsense").status_code == 401


@each_view
def test_removed_member_is_refused_at_once(ann, acme, bob, path):
    join(acme, bob, "admin")
    bob.switch(acme)
    assert get(path, bob.token).status_code == 200

    ann.delete(f"org/{acme}/members/{bob.id}")

    assert get(path, bob.token).status_code == 403


@each_view
def test_role_is_that_of_the_row_and_not_of_the_token(ann, acme, bob, path):
    join(acme, bob, "admin")
    bob.switch(acme)
    Membership.objects.filter(user=bob.user).update(role="member")

    assert get(path, bob.token).status_code == (403 if path in ADMINS else 200)


def test_inactive_organization_is_none(ann, acme):
    ann.switch(acme)
    Organization.objects.update(active=False)

    assert get("/lazy", ann.token).json() == {"slug": ""}


def test_lazy_organization_costs_nothing_until_it_is_used(ann, acme):
    ann.switch(acme)

    assert len(statements(lambda: get("/untouched", ann.token))) == 0
    assert len(statements(lambda: get("/lazy", ann.token))) == 2
    assert get("/lazy", ann.token).json() == {"slug": "acme"}
    assert get("/lazy").json() == {"slug": ""}


def test_lazy_organization_in_an_async_view(ann, acme):
    ann.switch(acme)
    headers = {"Authorization": f"Bearer {ann.token}"}

    answer = async_to_sync(AsyncClient().get)("/lazy-async", headers=headers)

    assert answer.json() == {"slug": "acme"}


def test_forged_request_has_no_organization(ann, acme, configure):
    """A page of another site makes a browser send the token cookie, but not the CSRF pair."""
    ann.switch(acme)
    configure(COOKIES={"ENABLED": True})
    client = Client()
    client.cookies[ACCESS] = ann.token

    with installed():
        assert client.get("/lazy").json() == {"slug": "acme"}
        assert client.post("/lazy").json() == {"slug": ""}


@pytest.mark.parametrize("path", ["/plain/members", "/async/members", "/lazy", "/lazy-async"])
def test_response_varies_by_caller_if_the_organization_was_read(ann, acme, path):
    """Otherwise the per-site cache would give the page of one user to the next."""
    ann.switch(acme)

    assert "Authorization" in get(path, ann.token).headers["Vary"]
    assert "Authorization" not in get("/untouched", ann.token).headers.get("Vary", "")


@pytest.mark.parametrize("make", [HasOrganizationRole, organization_role_required])
def test_unknown_role_is_a_mistake_of_the_project(make):
    with pytest.raises(ValueError, match="'root' is not one of the roles owner, admin, member"):
        make("root")


def test_queryset_has_the_rows_of_one_organization(ann, acme, member):
    other = ann.found("Other")
    rows = OwnedQuerySet(Membership)

    assert rows.of(Organization.objects.get(pk=acme)).count() == 2
    assert rows.of(Organization.objects.get(pk=other)).count() == 1
    assert rows.of(None).count() == 0
