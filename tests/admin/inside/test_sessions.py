"""Sessions of Django admin end with all sessions of their user."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from authservice.core.api import identity
from authservice.core.models import Account
from authservice.core.staff.login_form import AdminAuthenticationForm
from tests.admin.inside.conftest import staff
from tests.support.client import PASSWORD
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

ROOT, BOSS = "root@example.com", "boss@example.com"


@pytest.fixture
def root_user():
    return staff(ROOT, superuser=True)


@pytest.fixture
def thief(root_user):
    """A client that logged in to Django admin with the password."""
    return logged_in(root_user)


@pytest.fixture
def boss(api):
    """The access token of another super admin."""
    staff(BOSS, superuser=True)
    return api.log_in(BOSS)["access_token"]


def logged_in(user):
    client = Client()
    form = {"username": user.get_username(), "password": PASSWORD, "next": "/admin/"}
    assert client.post("/admin/login/", form).url == "/admin/"
    assert is_open(client)
    return client


def is_open(client, page="/admin/"):
    answer = client.get(page)
    if answer.status_code == 200:
        return True
    assert answer.url.startswith(("/admin/login/", "/guarded/login/"))
    return False


def raise_version(name="token_version", by=1):
    Account.objects.filter(user=the_user(ROOT)).update(**{name: F(name) + by})


def change(api, token, user, **body):
    assert api.request("PUT", f"admin/users/{user.pk}", body, token=token).status == 200


def test_session_ends_if_the_owner_enables_a_second_factor(thief, api):
    tokens = api.log_in(ROOT)
    Person(api, ROOT, tokens["access_token"], tokens["user"]["id"]).enrol()

    assert not is_open(thief)


def test_session_ends_if_an_operator_revokes_all_sessions_of_the_user(thief, api, root_user):
    call_command("authservice_revoke", "--user", str(root_user.pk), "--noinput")

    assert not is_open(thief)


@pytest.mark.parametrize("api_session", [True, False])
def test_session_ends_if_an_operator_revokes_all_sessions(thief, api, api_session):
    if api_session:
        api.log_in(ROOT)

    call_command("authservice_revoke", "--all", "--noinput")

    assert not is_open(thief)


def test_session_stays_ended_after_user_is_deactivated_and_activated(thief, api, boss, root_user):
    change(api, boss, root_user, active=False)
    change(api, boss, root_user, active=True)

    assert not is_open(thief)


def test_session_ends_if_staff_change_the_address(thief, api, boss, root_user):
    change(api, boss, root_user, email="recovered@example.com")

    assert not is_open(thief)


def test_ended_session_is_logged_out_on_every_protected_site(thief):
    raise_version()

    assert not is_open(thief, "/guarded/")
    assert "_auth_user_id" not in thief.session


def test_ended_session_changes_nothing(thief, root_user):
    raise_version()

    answer = thief.post(f"/admin/authservice_core/account/{root_user.pk}/change/", {"name": "Eve"})

    assert answer.status_code == 302
    assert Account.objects.get(user=root_user).name == ""


def test_user_logs_in_again_after_the_sessions_ended(thief, root_user):
    raise_version()

    assert not is_open(thief)
    assert is_open(logged_in(root_user))


def test_login_with_the_api_does_not_reopen_an_ended_session(thief):
    raise_version()
    body = {"email": ROOT, "password": PASSWORD}

    assert thief.post("/auth/login", body, content_type="application/json").status_code == 200

    assert not is_open(thief)


def test_login_while_a_factor_is_enabled_opens_no_session(root_user, monkeypatch):
    monkeypatch.setattr(
        AdminAuthenticationForm,
        "confirm_login_allowed",
        lambda form, user: raise_version("factor_version"),
    )
    client, form = Client(), {"username": root_user.get_username(), "password": PASSWORD}

    assert client.post("/admin/login/", form).status_code == 302

    assert not is_open(client)


def test_session_of_another_login_ends_too(root_user):
    raise_version(by=3)
    client = Client()
    client.get("/admin/login/")  # from now on the versions of a login are stored
    client.force_login(root_user)
    assert is_open(client)

    raise_version()

    assert not is_open(client)


def without_versions(user):
    """A client with a session from before the upgrade."""
    client = logged_in(user)
    session = client.session
    session.pop("_authservice_versions", None)
    session.save()
    return client


def test_session_without_versions_stays_open_if_no_sessions_ever_ended(root_user):
    assert is_open(without_versions(root_user))


@pytest.mark.parametrize("name", ["token_version", "factor_version"])
def test_session_without_versions_ends_if_sessions_have_ended(root_user, name):
    client = without_versions(root_user)

    raise_version(name)

    assert not is_open(client)


def test_session_of_user_without_account_is_open(root_user):
    Account.objects.all().delete()

    assert is_open(logged_in(root_user))


def test_check_of_the_session_costs_one_query(thief):
    with CaptureQueriesContext(connection) as asked:
        is_open(thief, "/admin/jsi18n/")

    assert len([query for query in asked if "token_version" in query["sql"]]) == 1


# Views of the host project


def identified(client, user):
    """Whether a view of the host project knows the user of Django's session."""
    request = RequestFactory().get("/")
    request.session, request.user = client.session, user
    return identity.of(request).user.is_authenticated


def test_host_view_does_not_accept_an_ended_session(thief, root_user):
    assert identified(thief, root_user)

    raise_version()

    assert not identified(thief, root_user)


def test_host_view_accepts_session_without_versions(root_user):
    client = without_versions(root_user)

    raise_version()

    assert identified(client, root_user)


def test_middleware_and_site_check_the_session_with_one_query(thief, settings):
    ours = "authservice.middleware.AuthserviceMiddleware"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, ours]

    test_check_of_the_session_costs_one_query(thief)
