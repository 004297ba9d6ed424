"""Sessions of Django admin end with all sessions of their user."""

from types import SimpleNamespace

import pytest
from django.contrib.auth import login
from django.contrib.auth.signals import user_logged_in
from django.core.management import call_command
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from rest_framework.request import Request

from authservice.core.models import Account
from authservice.core.staff.login_form import AdminAuthenticationForm
from tests.admin.inside.browsers import (
    BOSS,
    ROOT,
    is_open,
    logged_in,
    raise_version,
    without_versions,
)
from tests.admin.inside.conftest import staff
from tests.support.client import PASSWORD
from tests.support.people import has
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

NEW = "fig biscuit 17 lanterns"


@pytest.fixture
def boss(api):
    """The access token of another super admin."""
    staff(BOSS, superuser=True)
    return api.log_in(BOSS)["access_token"]


def change(api, token, user, **body):
    assert api.request("PUT", f"admin/users/{user.pk}", body, token=token).status == 200


def test_session_ends_if_the_owner_enables_a_second_factor(thief, api):
    tokens = api.log_in(ROOT)
    Person(api, ROOT, tokens["access_token"], tokens["user"]["id"]).enrol()

    assert not is_open(thief)


def test_session_ends_if_an_operator_revokes_all_sessions_of_the_user(thief, api, root_user):
    call_command("authservice_revoke", "--user", str(root_user.pk), "--noinput")

    assert not is_open(thief)


@pytest.mark.skipif(not has("username"), reason="its users have no page for their passwords")
def test_own_password_set_on_the_page_of_users_keeps_this_session_only(root_user):
    browser, thief = logged_in(root_user), logged_in(root_user)
    form = {"password1": NEW, "password2": NEW, "usable_password": "true"}

    assert browser.post(f"/admin/auth/user/{root_user.pk}/password/", form).status_code == 302

    assert is_open(browser)
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


def test_login_with_another_package_does_not_reopen_an_ended_session(thief, root_user):
    """django-rest-knox sends the signal of Django's `login` for each token that it issues."""
    raise_version()
    of_django = RequestFactory().post("/")
    of_django.session = thief.session
    request = Request(of_django)
    request.user = root_user

    user_logged_in.send(type(root_user), request=request, user=root_user)

    of_django.session.save()
    assert not is_open(thief)


def test_login_in_a_view_of_the_rest_framework_begins_a_session(thief, root_user):
    raise_version()
    request = RequestFactory().post("/")
    request.session = thief.session

    login(Request(request), root_user)

    request.session.save()
    assert is_open(thief)


@pytest.mark.parametrize("request_of_login", [None, SimpleNamespace()])
def test_login_without_a_session_of_django_stores_nothing(root_user, request_of_login):
    """Such a signal comes from Channels, for example."""
    Client().get("/admin/login/")  # from now on the versions of a login are stored

    user_logged_in.send(type(root_user), request=request_of_login, user=root_user)


def test_login_of_another_user_does_not_reopen_an_ended_session(thief, root_user):
    other = staff(BOSS)
    Account.objects.update(token_version=1)
    request = RequestFactory().post("/")
    request.session, request.user = thief.session, other

    user_logged_in.send(type(other), request=request, user=other)

    request.session.save()
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


def test_middleware_and_site_check_the_session_with_one_query(thief, settings):
    ours = "authservice.middleware.AuthserviceMiddleware"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, ours]

    test_check_of_the_session_costs_one_query(thief)
