"""The password change page of Django admin applies the rules of the API."""

import unicodedata

import pytest
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.test import Client

from authservice.core.models import Account, OneTimeToken, Session
from authservice.core.staff import password_form
from authservice.kernel import errors, modules
from tests.admin.inside.conftest import staff
from tests.support.client import PASSWORD
from tests.support.messenger.post import office
from tests.support.people import change as change_user
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

ROOT, PAGE = "root@example.com", "/admin/password_change/"
NEW = "fig biscuit 17 lanterns"


@pytest.fixture
def user():
    return staff(ROOT, superuser=True)


@pytest.fixture
def browser(user):
    """A client with a session of Django admin only."""
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def change(browser):
    """`change(old, new)` submits the page and returns the response."""

    def send(old=PASSWORD, new=NEW, *, again=""):
        form = {"old_password": old, "new_password1": new, "new_password2": again or new}
        return browser.post(PAGE, form)

    return send


def changed(answer):
    return answer.status_code == 302 and answer.url == "/admin/password_change/done/"


def refusals(answer):
    assert answer.status_code == 200
    return " ".join(str(text) for texts in answer.context["form"].errors.values() for text in texts)


# Attempts


def test_own_password_change_with_60_wrong_passwords_is_limited_and_recorded(change, recorded):
    answers = [change(f"wrong {number}") for number in range(60)]

    assert not any(changed(answer) for answer in answers)
    assert "Your old password was entered incorrectly" in refusals(answers[9])
    assert "Too many attempts. Try again in 15 minutes." in refusals(answers[10])
    assert "Too many attempts" in refusals(answers[-1])
    failed = recorded("auth.password.change_failed")
    assert len(failed) == 10  # the others were refused before any password was checked
    assert {event.user for event in failed} == {the_user(ROOT)}
    assert (failed[0].metadata, failed[0].client.address) == (
        {"method": "django_admin"},
        "127.0.0.1",
    )
    assert len(recorded("security.account.throttled")) == 1
    assert "Too many attempts" in refusals(change())


def test_own_password_change_shares_the_attempt_counter_with_the_api(change, user, api):
    token = api.log_in(ROOT)["access_token"]
    for _ in range(10):
        body = {"old_password": "wrong", "new_password": NEW}
        api.request("PUT", "change-password", body, token=token)

    assert "Too many attempts" in refusals(change())


def test_own_password_change_with_correct_password_is_not_counted(change):
    for _ in range(12):
        assert "didn’t match" in refusals(change(again="another fig biscuit"))

    assert changed(change())


def test_own_password_change_without_free_hash_slot_asks_to_retry(change, monkeypatch):
    def busy(*_):
        raise errors.ServiceUnavailable

    monkeypatch.setattr("authservice.core.recovery.recent_proof.passwords.check", busy)

    assert "Too many attempts. Try again in 1 minute." in refusals(change())


# New passwords


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("short 1", "at least 8 characters"),
        ("password1", "too common"),
        (PASSWORD, "Must differ from the old one."),
        ("x" * 4097, "Must not exceed 4096 bytes."),
        ("fig" + "\u0301" * 31, "combining marks"),
        ("fig biscuit\t17", "control characters"),
    ],
)
def test_own_password_change_against_the_policy_is_refused(change, user, recorded, new, words):
    assert words in refusals(change(new=new))

    assert the_user(ROOT).password == user.password
    assert recorded("auth.password.changed") == []


@pytest.mark.parametrize(
    ("refusal", "words"),
    [(IntegrityError("a column"), "already exists"), (ValidationError("Not today."), "Not today.")],
)
def test_own_password_change_that_the_model_refuses_is_no_crash(
    change, user, monkeypatch, refusal, words
):
    def save(self, *_, **__):
        raise refusal

    monkeypatch.setattr(type(user), "save", save)

    assert words in refusals(change())
    assert not type(user).objects.get(pk=user.pk).check_password(NEW)


def test_own_password_change_normalizes_the_password_like_the_api(change, api):
    entered = unicodedata.normalize("NFD", "fünf Äpfel und Birnen")

    assert changed(change(new=entered))

    assert api.post("login", email=ROOT, password=entered).status == 200
    form = {"username": the_user(ROOT).get_username(), "password": entered, "next": "/admin/"}
    assert Client().post("/admin/login/", form).status_code == 302


def test_own_password_change_does_not_replace_concurrent_change(change, recorded, monkeypatch):
    real, of_owner = password_form.change_own_password, make_password("a password of the owner 1")

    def late(*args):
        change_user(ROOT, password=of_owner)
        return real(*args)

    monkeypatch.setattr(password_form, "change_own_password", late)

    assert "Your old password was entered incorrectly" in refusals(change())

    assert the_user(ROOT).password == of_owner
    assert recorded("auth.password.changed") == []


# Effects of a change


def test_own_password_change_is_recorded(change, recorded):
    assert changed(change())

    (event,) = recorded("auth.password.changed")
    assert (event.user, event.target, event.actor_type) == (the_user(ROOT), None, "user")
    assert (event.metadata, event.client.address) == ({"method": "django_admin"}, "127.0.0.1")


def test_own_password_change_revokes_sessions_and_devices_of_the_api(change, user, api):
    token = api.log_in(ROOT)["access_token"]
    before = Account.objects.get(user=user)
    assert before.device_ids

    change()

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
    assert not Session.objects.filter(ended_at=None).exists()
    after = Account.objects.get(user=user)
    assert (after.device_version, after.device_ids) == (before.device_version + 1, "")
    assert api.post("login", email=ROOT, password=PASSWORD).status == 401
    assert api.post("login", email=ROOT, password=NEW).status == 200


def test_own_password_change_revokes_only_other_sessions_of_django_admin(change, user, browser):
    other = Client()
    other.force_login(user)

    change()

    assert browser.get("/admin/").status_code == 200
    assert other.get("/admin/").status_code == 302


@pytest.fixture
def verified(user):
    kept = Account.objects.get(user=user)
    kept.verified_email_key = kept.proven_email_key = kept.email_key
    kept.save()


def test_own_password_change_is_mailed_with_a_link_that_undoes_it(
    change, verified, api, django_capture_on_commit_callbacks
):
    office.jobs.clear()
    with modules.plugged("messenger", office):
        with django_capture_on_commit_callbacks(execute=True):
            assert changed(change())
        [job] = office.jobs
        token = office.token("password-changed")

    assert (job.kind, job.target) == ("password-changed", ROOT)
    assert api.request("POST", "account/secure", {"token": token}).status == 200
    assert not the_user(ROOT).has_usable_password()


def test_own_password_change_of_user_without_account_succeeds(change, user):
    Account.objects.all().delete()

    assert changed(change())

    assert the_user(ROOT).check_password(NEW)
    assert not OneTimeToken.objects.exists()


# The page


def test_own_password_page_shows_the_fields_of_django(browser):
    shown = browser.get(PAGE).content.decode()

    for name in ("old_password", "new_password1", "new_password2"):
        assert f'name="{name}"' in shown
    assert "site-name" in shown


def test_own_password_page_requires_a_session(user):
    answer = Client().post(PAGE, {"old_password": PASSWORD})

    assert answer.status_code == 302
    assert answer.url.startswith("/admin/login/")
