"""Other packages about users live in the same project, and people walk in and out of both."""

from collections import Counter

import pytest
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from django.urls import resolve, reverse

from authservice.core.models import Account
from tests.client import PASSWORD
from tests.hosts.inside.users import only
from tests.people import the_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not (apps.is_installed("allauth.account") and apps.is_installed("organizations")),
        reason="this host has no neighbours of ours",
    ),
]
ANN = "ann@example.com"


@pytest.fixture
def browser():
    return Client()


def sign_up_there(browser, email=ANN):
    return browser.post("/accounts/signup/", {"email": email, "password1": PASSWORD})


def log_in_there(browser, email=ANN, password=PASSWORD):
    browser.post("/accounts/login/", {"login": email, "password": password})
    return "_auth_user_id" in browser.session


def test_no_check_complains():
    call_command("check", fail_level="WARNING")


def test_no_table_is_two_models():
    tables = Counter(model._meta.db_table for model in apps.get_models(include_auto_created=True))

    assert [table for table, models in tables.items() if models > 1] == []


def test_routes_of_the_same_name_lead_each_to_its_own(api):
    assert reverse("authservice:login") == "/auth/login"
    assert reverse("account_login") == "/accounts/login/"
    assert resolve("/organizations/").func.__module__.startswith("organizations")
    assert api.get("organizations").error == (404, "NOT_FOUND")


def test_who_signed_up_there_logs_in_here(api, browser):
    assert sign_up_there(browser).status_code == 302

    assert api.log_in()["user"]["email"] == ANN


def test_who_signed_up_there_has_an_account_in_step(browser):
    sign_up_there(browser)

    account = Account.objects.get(user=only())
    assert (account.email, bool(account.email_key)) == (ANN, True)


def test_an_address_taken_there_is_taken_here(api, browser):
    sign_up_there(browser)

    answer = api.post("signup", email=ANN.upper(), password=PASSWORD)

    assert answer.code == "USER_ALREADY_EXISTS"


def test_who_signed_up_here_logs_in_there(api, browser):
    api.sign_up()

    assert log_in_there(browser)


def test_a_wrong_password_is_wrong_in_both(api, browser):
    api.sign_up()

    assert not log_in_there(browser, password="wrong")
    assert api.post("login", email=ANN, password="wrong").code == "INVALID_CREDENTIALS"


def test_a_password_changed_there_ends_every_sign_in_here(api, browser):
    token = api.sign_up()["access_token"]
    log_in_there(browser)
    new = "another " + PASSWORD

    fields = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert browser.post("/accounts/password/change/", fields).status_code == 302

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
    assert api.post("login", email=ANN, password=new).status == 200


def test_an_address_changed_there_is_the_address_here(api, browser):
    from allauth.account.models import EmailAddress

    sign_up_there(browser)
    address = EmailAddress.objects.create(
        user=the_user(), email="anna@example.com", verified=True, primary=False
    )
    address.set_as_primary()

    assert api.post("login", email="anna@example.com", password=PASSWORD).status == 200
    assert api.post("login", email=ANN, password=PASSWORD).code == "INVALID_CREDENTIALS"


def test_a_logout_there_ends_no_sign_in_here(api, browser):
    token = api.sign_up()["access_token"]
    log_in_there(browser)

    browser.post("/accounts/logout/")

    assert api.get("me", token=token).status == 200


def test_a_member_of_an_organization_of_theirs_can_be_deleted(api):
    from organizations.models import OrganizationUser
    from organizations.utils import create_organization

    api.sign_up()
    create_organization(only(), "Acme", slug="acme")

    only().delete()

    assert not OrganizationUser.objects.exists()
    assert not Account.objects.exists()
