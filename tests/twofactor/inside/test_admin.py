"""The pages of Django admin that list second factors and disable them for users."""

import re

import pytest
from django.urls import reverse

from authservice.core.models import Account
from authservice.twofactor.models import Authenticator
from tests.admin.inside.conftest import page
from tests.support.people import the_user
from tests.twofactor.people import ANN

pytestmark = pytest.mark.django_db
LIST = "admin:authservice_twofactor_authenticator_changelist"


def act(browser, action):
    form = {"action": action, "_selected_action": [str(Authenticator.objects.get().pk)]}
    form["confirmed"] = "yes"
    return browser.send(reverse(LIST), **form)


def test_list_shows_users_with_a_second_factor(root, enrolled):
    shown = root.see(reverse(LIST))

    assert str(the_user(ANN)) in shown


def test_pages_show_no_secret(root, enrolled):
    row = Authenticator.objects.get()
    shown = root.see(reverse(LIST)) + root.see(page(row))

    digests = list(row.backup_codes.values_list("digest", flat=True))
    hidden = [row.sealed_secret, enrolled.app.secret, str(row.enrolment), *digests]
    assert [secret for secret in hidden if secret in shown] == []


def test_page_shows_how_many_backup_codes_remain(root, enrolled):
    enrolled.verify_login(enrolled.backup_codes[0])

    assert re.search(r'<div class="readonly">9</div>', root.see(page(Authenticator.objects.get())))


def test_list_can_be_searched_by_address(root, enrolled):
    assert "1 authenticator app" in root.see(reverse(LIST), q=ANN)
    assert "0 authenticator apps" in root.see(reverse(LIST), q="bob@example.com")


@pytest.mark.parametrize("confirmed", [0, 1])
def test_list_can_be_filtered_by_confirmation(root, enrolled, confirmed):
    shown = root.see(reverse(LIST), confirmed__exact=confirmed)

    assert (f"{confirmed} authenticator" in shown) is True


def test_staff_can_disable_the_second_factor_of_a_user(root, api, enrolled):
    shown = act(root, "disable").content.decode()

    assert "Disabled the second factor of 1 user and ended all their sessions." in shown
    assert enrolled.get("me").error == (401, "INVALID_TOKEN")
    assert Account.objects.get(email=ANN).token_version == 1
    assert "access_token" in api.log_in(ANN)


def test_second_factor_disabled_by_staff_is_recorded_as_such(root, enrolled, events):
    act(root, "disable")

    (event,) = events()
    assert (event.action, event.severity) == ("auth.2fa.disabled", "warning")
    assert (event.user, event.target, event.actor_type) == (root.user, the_user(ANN), "admin")


def test_unconfirmed_second_factor_is_not_disabled(root, ann):
    ann.set_up()

    assert "of 0 users" in act(root, "disable").content.decode()
    assert Authenticator.objects.exists()


def test_staff_can_unlock_a_user(root, enrolled):
    for _ in range(11):
        enrolled.verify_login(enrolled.wrong_code())

    assert "Unlocked 1 user. All" in act(root, "unlock").content.decode()

    assert enrolled.verify_login(enrolled.code()).status == 200
    assert "Unlocked 0 users. All" in act(root, "unlock").content.decode()


@pytest.mark.parametrize("action", ["disable", "unlock"])
def test_staff_with_view_permission_only_can_neither_disable_nor_unlock(helper, enrolled, action):
    browser = helper("view_authenticator")

    act(browser, action)

    assert action not in re.findall(r'<option value="(\w+)"', browser.see(reverse(LIST)))
    assert enrolled.get("me").status == 200


@pytest.mark.parametrize("action", ["add", "delete"])
def test_staff_cannot_add_or_delete_a_second_factor(root, enrolled, action):
    row = Authenticator.objects.get()
    url = f"admin:authservice_twofactor_authenticator_{action}"

    root.see(reverse(url, args=[row.pk] if action == "delete" else []), status=403)


def test_user_with_a_second_factor_can_be_deleted(helper, enrolled, configure):
    helper("view_user", "delete_user").send(page(the_user(ANN), "delete"), post="yes")

    assert not Authenticator.objects.exists()
