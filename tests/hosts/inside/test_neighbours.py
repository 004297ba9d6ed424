"""authservice in one project with django-allauth and django-organizations; users use both."""

from collections import Counter

import pytest
from django.apps import apps
from django.core import checks
from django.test import Client
from django.urls import resolve, reverse

from authservice.core.models import Account
from tests.hosts.inside.users import only
from tests.support.client import PASSWORD
from tests.support.people import the_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not (apps.is_installed("allauth.account") and apps.is_installed("organizations")),
        reason="this host does not have these packages",
    ),
]
ANN = "ann@example.com"


@pytest.fixture
def browser():
    return Client()


def sign_up_with_allauth(browser, email=ANN):
    return browser.post("/accounts/signup/", {"email": email, "password1": PASSWORD})


def log_in_with_allauth(browser, email=ANN, password=PASSWORD):
    browser.post("/accounts/login/", {"login": email, "password": password})
    return "_auth_user_id" in browser.session


def test_system_checks_warn_of_nothing_but_the_login_of_allauth():
    warnings = {entry.id for entry in checks.run_checks() if entry.level >= checks.WARNING}

    assert warnings == {"authservice.W118"}


def test_each_table_has_one_model():
    tables = Counter(model._meta.db_table for model in apps.get_models(include_auto_created=True))

    assert [table for table, models in tables.items() if models > 1] == []


def test_routes_with_the_same_name_do_not_collide(api):
    assert reverse("authservice:login") == "/auth/login"
    assert reverse("account_login") == "/accounts/login/"
    assert resolve("/organizations/").func.__module__.startswith("organizations")
    assert api.get("organizations").error == (404, "NOT_FOUND")


def test_user_of_allauth_logs_in_with_authservice(api, browser):
    assert sign_up_with_allauth(browser).status_code == 302

    assert api.log_in()["user"]["email"] == ANN


def test_user_of_allauth_has_an_account(browser):
    sign_up_with_allauth(browser)

    account = Account.objects.get(user=only())
    assert (account.email, bool(account.email_key)) == (ANN, True)


def test_address_taken_in_allauth_is_taken_in_authservice(api, browser):
    sign_up_with_allauth(browser)

    answer = api.post("signup", email=ANN.upper(), password=PASSWORD)

    assert answer.code == "USER_ALREADY_EXISTS"


def test_user_of_authservice_logs_in_with_allauth(api, browser):
    api.sign_up()

    assert log_in_with_allauth(browser)


def test_wrong_password_is_refused_by_both_packages(api, browser):
    api.sign_up()

    assert not log_in_with_allauth(browser, password="wrong")
    assert api.post("login", email=ANN, password="wrong").code == "INVALID_CREDENTIALS"


def test_password_changed_in_allauth_revokes_sessions_of_authservice(api, browser):
    token = api.sign_up()["access_token"]
    log_in_with_allauth(browser)
    new = "another " + PASSWORD

    fields = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert browser.post("/accounts/password/change/", fields).status_code == 302

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
    assert api.post("login", email=ANN, password=new).status == 200


def test_address_changed_in_allauth_changes_in_authservice(api, browser):
    from allauth.account.models import EmailAddress

    sign_up_with_allauth(browser)
    address = EmailAddress.objects.create(
        user=the_user(), email="anna@example.com", verified=True, primary=False
    )
    address.set_as_primary()

    assert api.post("login", email="anna@example.com", password=PASSWORD).status == 200
    assert api.post("login", email=ANN, password=PASSWORD).code == "INVALID_CREDENTIALS"


def test_logout_in_allauth_keeps_sessions_of_authservice(api, browser):
    token = api.sign_up()["access_token"]
    log_in_with_allauth(browser)

    browser.post("/accounts/logout/")

    assert api.get("me", token=token).status == 200


def test_member_of_an_organization_can_be_deleted(api):
    from organizations.models import OrganizationUser
    from organizations.utils import create_organization

    api.sign_up()
    create_organization(only(), "Acme", slug="acme")

    only().delete()

    assert not OrganizationUser.objects.exists()
    assert not Account.objects.exists()
