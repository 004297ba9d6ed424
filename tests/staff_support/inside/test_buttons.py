"""The buttons of the support page: what they do, record and mail, and what they refuse."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from authservice.audit.models import Entry
from authservice.core import errors
from authservice.core.messages import kinds
from authservice.core.models import Account, AttemptCounter
from authservice.twofactor.models import Authenticator
from tests.staff_support.inside.conftest import (
    ANN,
    NAMES,
    account,
    button,
    everything,
    lock_out,
    offered,
    press,
    support_page,
)
from tests.support.client import PASSWORD
from tests.support.people import change, deactivate, has, the_user

pytestmark = pytest.mark.django_db

OVER = (401, "INVALID_TOKEN")


def recorded(action):
    return Entry.objects.filter(action=action)


def by_staff(action, member):
    """The one entry of an action of this member of staff on Ann."""
    (entry,) = recorded(action).filter(actor_type="admin")
    assert (entry.actor_id, entry.target_id) == (str(member.user.pk), str(the_user().pk))
    assert entry.ip_address == "127.0.0.1"
    return entry


# What they do


def test_unlocked_user_can_log_in_at_once(member, api):
    lock_out(api)

    assert "Unlocked" in press(member, "unlock")

    assert api.post("login", email=ANN, password=PASSWORD).status == 200
    assert '"locked":1' in by_staff("admin.user.unlocked", member).metadata


def test_unlocking_a_user_who_is_not_locked_says_so(member, api):
    api.post("login", email=ANN, password="wrong")

    assert "The user was not locked." in press(member, "unlock")

    assert not AttemptCounter.objects.filter(count__gt=0).exists()
    assert '"locked":0' in by_staff("admin.user.unlocked", member).metadata


@pytest.mark.parametrize("key", ["email", *(["username"] if has("username") else [])])
def test_unlocking_keeps_the_attempts_at_another_user_with_the_same(key, member, api, ann):
    """No login finds Ann by it, so the attempts are not at her account."""
    Account.objects.filter(pk=account().pk).update(**{f"{key}_key": None})
    api.address = "203.0.113.7"
    attempt = {key: getattr(account(), key), "password": "wrong"}
    while api.post("login", **attempt).status != 429:
        pass

    assert "The user was not locked." in press(member, "unlock")

    assert api.post("login", **attempt).code == "TOO_MANY_ATTEMPTS"


def test_unlocking_resets_the_attempts_at_the_second_factor(member, enrolled):
    for _ in range(11):
        enrolled.verify_login(enrolled.wrong_code())

    press(member, "unlock")

    assert enrolled.verify_login(enrolled.code()).status == 200


def test_ended_sessions_are_refused_at_once(member, api, ann):
    assert "Ended 1 session." in press(member, "end-sessions")

    assert api.get("me", token=ann["access_token"]).error == OVER
    by_staff("security.session.revoked", member)


def test_reset_is_mailed_to_the_address_of_the_account_only(member, post):
    assert "is on its way to ann@example.com" in press(member, "send-reset")

    (job,) = [job for job in post.jobs if job.kind == kinds.RESET_BY_LINK]
    assert (job.target, job.details, job.language) == (ANN, {"asked_by": "staff"}, "")
    by_staff("auth.password.reset_requested", member)


def test_verification_mail_is_sent_again(member, post):
    post.jobs.clear()

    press(member, "resend-verification")

    assert [(job.kind, job.target) for job in post.jobs] == [(kinds.VERIFY_EMAIL, ANN)]


def test_address_is_marked_as_verified_but_not_as_proven(member, api, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    assert api.post("login", email=ANN, password=PASSWORD).code == "EMAIL_NOT_VERIFIED"

    press(member, "verify-email")

    assert api.post("login", email=ANN, password=PASSWORD).status == 200
    assert (account().proven_email_key, account().email) == ("", ANN)
    assert '"email_verified"' in by_staff("admin.user.updated", member).metadata


def test_address_that_was_changed_since_the_page_was_shown_is_not_verified(member, ann):
    asked = button("verify-email")
    assert f'<input type="hidden" name="email" value="{ANN}">' in member.see(asked)
    change(ANN, email="eve@example.com")

    assert "Nothing was done" in member.send(asked, email=ANN).content.decode()
    assert "Nothing was done" in member.send(asked).content.decode()

    assert not Account.objects.exclude(verified_email_key="").exists()


def test_second_factor_is_disabled_and_its_owner_is_notified(member, api, enrolled, post):
    Account.objects.update(verified_email_key=account().email_key)
    Account.objects.update(proven_email_key=account().email_key)

    press(member, "disable-second-factor")

    assert not Authenticator.objects.exists()
    assert "access_token" in api.log_in(ANN)
    assert "two-factor-disabled" in post.kinds()
    by_staff("auth.2fa.disabled", member)


def test_suspended_user_is_logged_out_and_cannot_log_in(member, api, ann):
    press(member, "suspend")

    assert api.get("me", token=ann["access_token"]).error == OVER
    assert api.post("login", email=ANN, password=PASSWORD).code == "USER_NOT_ACTIVE"
    by_staff("admin.user.suspended", member)


def test_reactivated_user_can_log_in(member, api):
    deactivate()

    press(member, "reactivate")

    assert api.post("login", email=ANN, password=PASSWORD).status == 200
    by_staff("admin.user.reactivated", member)


@pytest.mark.parametrize("name", ["unlock", "end-sessions", "suspend"])
def test_button_is_in_the_history_of_the_account(member, name):
    press(member, name)

    (entry,) = LogEntry.objects.all()
    assert (entry.user_id, entry.object_id) == (member.user.pk, str(account().pk))


# Confirmation


@pytest.mark.parametrize("name", NAMES)
def test_opening_the_confirmation_page_changes_nothing(member, enrolled, api, post, name):
    lock_out(api)
    before, jobs, entries = everything(), len(post.jobs), Entry.objects.count()

    shown = member.see(button(name))

    assert '<form method="post">' in shown
    assert "csrfmiddlewaretoken" in shown
    assert (everything(), len(post.jobs), Entry.objects.count()) == (before, jobs, entries)


@pytest.mark.parametrize("name", NAMES)
def test_confirmation_page_is_in_no_frame(member, enrolled, name):
    answer = member._client.get(button(name))

    assert answer["X-Frame-Options"] == "DENY"
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("name", NAMES)
def test_button_needs_the_csrf_token(member, enrolled, name):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member.user)
    before = everything()

    assert strict.post(button(name)).status_code == 403
    assert everything() == before


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options"])
def test_button_takes_no_other_method(member, ann, method):
    assert getattr(member._client, method)(button("unlock")).status_code == 405


def test_button_with_an_unknown_name_does_not_exist(member):
    member.see(reverse("admin:authservice_core_account_support_button", args=[1, "x"]), status=404)


def test_page_offers_only_the_buttons_that_apply(member, api, ann):
    always = ["unlock", "end-sessions"]
    reset, verify = ["send-reset"], ["resend-verification", "verify-email"]
    assert offered(member.see(support_page())) == [*always, *reset, *verify, "suspend"]

    press(member, "verify-email")
    assert offered(member.see(support_page())) == [*always, *reset, "suspend"]

    press(member, "suspend")
    assert offered(member.see(support_page())) == [*always, "reactivate"]


@pytest.mark.parametrize("name", ["reactivate", "disable-second-factor"])
def test_button_that_is_not_offered_does_nothing(member, ann, name):
    before = everything()

    assert "Nothing was done" in press(member, name)
    assert everything() == before
    assert not LogEntry.objects.exists()


def test_refusal_of_a_rule_is_shown(member, ann, monkeypatch):
    monkeypatch.setattr("authservice.kernel.message_queue.can_mail", lambda: False)

    assert errors.EmailNotConfigured.message in press(member, "send-reset")
    assert not LogEntry.objects.exists()
