"""Views of the host project: the organization of the token, checked against the membership."""

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

from authservice.kernel import errors
from authservice.organization import roles
from authservice.organization.decorators import (
    organization_permission_required,
    organization_role_required,
)
from authservice.organization.models import Membership, Organization
from authservice.organization.owned import OwnedQuerySet
from authservice.organization.permissions import HasOrganizationPermission, HasOrganizationRole
from tests.csrf.installed import installed
from tests.csrf.visitor import ACCESS
from tests.organization.inside.people import join
from tests.support.mounted import mounted
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

MEMBERS = ["/rest/members", "/plain/members", "/async/members", "/rest/either"]
ADMINS = ["/rest/admins", "/plain/admins", "/async/admins"]
EXPORTS = ["/rest/exports", "/plain/exports", "/async/exports"]
each_view = pytest.mark.parametrize("path", MEMBERS + ADMINS + EXPORTS)


def get(path, token=""):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return Client().get(path, headers=headers)


def refusal(answer):
    """Status and code; the REST framework has the code in another place."""
    body = answer.json()
    return answer.status_code, body["data"]["code"] if "data" in body else body["code"]


@each_view
def test_owner_reaches_every_view(ann, acme, path):
    ann.switch(acme)

    assert get(path, ann.token).json() == {"slug": "acme", "role": "owner"}


@pytest.mark.parametrize("path", ADMINS)
def test_role_below_the_required_one_is_refused(acme, member, path):
    member.switch(acme)

    assert refusal(get(path, member.token)) == (403, "ORG_INSUFFICIENT_ROLE")


# `rest/either` combines two permissions, so the REST framework has a text of its own.
CHOOSING = [path for path in MEMBERS + ADMINS + EXPORTS if path != "/rest/either"]


def shown(answer):
    """The error of a plain view, or of one of the REST framework."""
    body = answer.json()
    return body.get("data", body)


@each_view
def test_user_without_an_active_organization_is_refused(ann, acme, path):
    assert get(path, ann.token).status_code == 403


@pytest.mark.parametrize("path", CHOOSING)
def test_refusal_names_the_organizations_to_choose_from(ann, acme, bob, path):
    other = bob.found("Other")
    join(other, ann, "admin")

    refused = get(path, ann.token)

    assert (refused.status_code, shown(refused)["code"]) == (403, "ORG_NOT_ACTIVE")
    assert shown(refused)["organizations"] == [
        {"id": acme, "name": "Acme", "slug": "acme", "role": "owner"},
        {"id": other, "name": "Other", "slug": "other", "role": "admin"},
    ]


@pytest.mark.parametrize("path", CHOOSING)
def test_only_organization_is_not_active_by_itself(ann, acme, path):
    refused = shown(get(path, ann.token))
    assert [row["id"] for row in refused["organizations"]] == [acme]

    ann.switch(refused["organizations"][0]["id"])

    assert get(path, ann.token).status_code == 200


@pytest.mark.parametrize("path", CHOOSING)
def test_user_without_organizations_is_no_member(acme, bob, path):
    refused = shown(get(path, bob.token))

    assert (refused["code"], "organizations" in refused) == ("ORG_NOT_MEMBER", False)


@pytest.mark.parametrize("path", CHOOSING)
def test_removed_member_is_no_member_although_there_are_others_to_choose_from(
    ann, acme, member, path
):
    member.found("Other")
    member.switch(acme)
    ann.delete(f"org/{acme}/members/{member.id}")

    assert shown(get(path, member.token))["code"] == "ORG_NOT_MEMBER"


@pytest.mark.parametrize("path", CHOOSING)
def test_refusal_lists_at_most_a_hundred_organizations(ann, path):
    made = Organization.objects.bulk_create(
        Organization(name="Acme", slug=f"acme-{number}") for number in range(101)
    )
    Membership.objects.bulk_create(Membership(organization=one, user=ann.user) for one in made)

    refused = []
    assert len(statements(lambda: refused.append(get(path, ann.token)))) == 2
    assert len(shown(refused[0])["organizations"]) == 100


def test_exception_handler_keeps_the_organizations(ann, acme, settings):
    handler = "authservice.exceptions.exception_handler"
    settings.REST_FRAMEWORK = {
        **getattr(settings, "REST_FRAMEWORK", {}),
        "EXCEPTION_HANDLER": handler,
    }

    body = get("/rest/members", ann.token).json()

    assert set(body["data"]) == {"code", "message", "organizations"}
    assert body["message"] == body["data"]["message"] == "Choose an organization first."


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

    assert get(path, bob.token).status_code == (200 if path in MEMBERS else 403)


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


PLAIN = ["/plain/members", "/async/members", "/plain/admins", "/async/admins"]


@pytest.fixture
def staff(ann, acme, configure):
    """Ann's browser, with a session of Django's own login and with her token cookie."""
    ann.switch(acme)
    configure(COOKIES={"ENABLED": True})
    client = Client()
    client.force_login(ann.user)
    client.cookies[ACCESS] = ann.token
    with installed():
        yield client


@pytest.mark.parametrize("path", PLAIN)
def test_token_cookie_beside_a_session_of_django_identifies_the_user(staff, path):
    assert staff.get(path).json() == {"slug": "acme", "role": "owner"}


@pytest.mark.parametrize("path", PLAIN)
def test_forged_request_with_a_token_cookie_beside_a_session_of_django_is_refused(staff, path):
    assert refusal(staff.post(path)) == (403, "INVALID_CSRF")


@pytest.mark.parametrize("path", PLAIN)
def test_user_who_has_a_session_of_django_only_is_nobody(staff, path):
    del staff.cookies[ACCESS]

    assert refusal(staff.get(path)) == (401, "UNAUTHORIZED")


@pytest.fixture
def outage(ann, acme, configure):
    """The store of the sessions fails, and Ann's organization is active."""
    ann.switch(acme)
    configure(SESSION={"STORE": "tests.session.stores.Broken"})
    with mounted(login="session"):
        yield


@pytest.mark.parametrize("path", ["/lazy", "/lazy-async"])
def test_lazy_organization_is_an_error_during_an_outage(outage, ann, path):
    """Not None: the view would answer as for users without an organization."""
    with pytest.raises(errors.ServiceUnavailable):
        get(path, ann.token)


@pytest.mark.parametrize("path", MEMBERS)
def test_view_for_members_is_503_during_an_outage(outage, ann, path):
    assert get(path, ann.token).status_code == 503


@pytest.mark.parametrize("path", ["/plain/members", "/async/members", "/lazy", "/lazy-async"])
def test_response_varies_by_caller_if_the_organization_was_read(ann, acme, path):
    """Otherwise the per-site cache would give the page of one user to the next."""
    ann.switch(acme)

    assert "Authorization" in get(path, ann.token).headers["Vary"]
    assert "Authorization" not in get("/untouched", ann.token).headers.get("Vary", "")


READING = ["/plain/members", "/async/members", "/lazy", "/lazy-async"]


@pytest.mark.parametrize("path", READING)
def test_response_varies_by_caller_under_asgi(ann, acme, path):
    ann.switch(acme)
    headers = {"Authorization": f"Bearer {ann.token}"}

    answer = async_to_sync(AsyncClient().get)(path, headers=headers)
    untouched = async_to_sync(AsyncClient().get)("/untouched", headers=headers)

    assert answer.status_code == 200
    assert {"Authorization", "Cookie"} <= vary(answer)
    assert "Authorization" not in vary(untouched)


@pytest.mark.parametrize(
    "call", [Client().get, async_to_sync(AsyncClient().get)], ids=["sync", "async"]
)
@pytest.mark.parametrize(
    "path", [path for path in MEMBERS + ADMINS + EXPORTS if not path.startswith("/rest/")]
)
def test_decorated_view_varies_by_caller_without_the_middleware(settings, ann, acme, path, call):
    """Views of a project without it: the middleware must not stand in for the decorator."""
    ours = "authservice.organization.middleware.OrganizationMiddleware"
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name != ours]
    refused = call(path, headers={"Authorization": f"Bearer {ann.token}"})
    ann.switch(acme)
    admitted = call(path, headers={"Authorization": f"Bearer {ann.token}"})

    assert (refused.status_code, admitted.status_code) == (403, 200)
    for answer in (refused, admitted, call(path)):
        assert {"Authorization", "Cookie"} <= vary(answer)


@pytest.mark.parametrize("by_cookie", [False, True], ids=["bearer", "cookie beside Django's"])
@pytest.mark.parametrize("path", ["/plain/user", "/async/user"])
def test_decorated_view_has_the_user_without_the_middleware(
    settings, ann, acme, configure, path, by_cookie
):
    assert "authservice.middleware.AuthserviceMiddleware" not in settings.MIDDLEWARE
    ann.switch(acme)
    client, headers = Client(), {"Authorization": f"Bearer {ann.token}"}
    if by_cookie:
        configure(COOKIES={"ENABLED": True})
        client.force_login(ann.user)
        client.cookies[ACCESS], headers = ann.token, {}

    with installed():
        answer = client.get(path, headers=headers)

    assert answer.json() == {"email": ann.user.email, "org_id": acme}


PAGES = {
    "/pages/members": "/accounts/login/?next=/pages/members",
    "/pages/admins": "/enter?next=/pages/admins",
    "/pages/exports": "/accounts/login/?next=/pages/exports",
}


@pytest.mark.parametrize("path", PAGES)
def test_page_leads_visitors_to_the_login(path):
    answer = Client().get(path)

    assert (answer.status_code, answer.headers["Location"]) == (302, PAGES[path])


@pytest.mark.parametrize("path", PAGES)
def test_page_does_not_lead_a_user_without_an_organization_away(ann, acme, path):
    assert refusal(get(path, ann.token)) == (403, "ORG_NOT_ACTIVE")


@pytest.mark.parametrize("path", PAGES)
def test_page_does_not_lead_a_client_with_an_invalid_token_away(path):
    assert get(path, "expired").status_code == 401


@pytest.mark.parametrize("path", PAGES)
def test_page_shows_a_member_of_the_active_organization_what_they_may_see(ann, acme, path):
    ann.switch(acme)

    assert get(path, ann.token).status_code == 200


def vary(answer):
    return {name.strip() for name in answer.headers.get("Vary", "").split(",")}


@pytest.mark.parametrize("path", EXPORTS)
def test_role_with_the_permission_reaches_the_view_and_others_do_not(acme, bob, path):
    member, answers = join(acme, bob), {}
    bob.switch(acme)
    for role in roles.table():
        Membership.objects.filter(pk=member.pk).update(role=role)
        answers[role] = get(path, bob.token)

    passed = {role for role, answer in answers.items() if answer.status_code == 200}
    assert passed == {"owner", "admin", "billing"}
    assert {refusal(answers[role]) for role in set(answers) - passed} == {
        (403, "ORG_INSUFFICIENT_ROLE")
    }


@pytest.mark.parametrize("path", ADMINS)
def test_no_role_of_the_project_counts_as_an_admin(acme, bob, path):
    member = join(acme, bob)
    bob.switch(acme)
    for role in set(roles.table()) - {"owner", "admin"}:
        Membership.objects.filter(pk=member.pk).update(role=role)
        assert get(path, bob.token).status_code == 403, role


@pytest.mark.parametrize("path", EXPORTS)
def test_permission_that_the_setting_gives_to_no_role_any_more_is_refused(
    organization, ann, acme, path
):
    ann.switch(acme)
    organization(ROLES={})

    assert refusal(get(path, ann.token)) == (403, "ORG_INSUFFICIENT_ROLE")


@pytest.mark.parametrize("make", [HasOrganizationRole, organization_role_required])
def test_unknown_role_is_a_mistake_of_the_project(make):
    with pytest.raises(
        ValueError, match=r"'admins' is not one of the roles owner, admin, .*'admin'"
    ):
        make("admins")


@pytest.mark.parametrize("make", [HasOrganizationPermission, organization_permission_required])
def test_unknown_permission_is_a_mistake_of_the_project(make):
    expected = "gives the permission 'report.export' to no role. Did you mean 'reports.export'"
    with pytest.raises(ValueError, match=expected):
        make("report.export")


def test_queryset_has_the_rows_of_one_organization(ann, acme, member):
    other = ann.found("Other")
    rows = OwnedQuerySet(Membership)

    assert rows.of(Organization.objects.get(pk=acme)).count() == 2
    assert rows.of(Organization.objects.get(pk=other)).count() == 1
    assert rows.of(None).count() == 0
