"""Staff who change their own password in Django admin do so by the rules of the API."""

import unicodedata

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client

from authservice.core.models import Account, OneTimeToken, Session
from authservice.core.staff import own_password
from authservice.kernel import errors, modules
from tests.admin.inside.conftest import staff
from tests.client import PASSWORD
from tests.people import change as change_user
from tests.people import the_user
from tests.recovery.post import office

pytestmark = pytest.mark.django_db

ROOT, PAGE = "root@example.com", "/admin/password_change/"
NEW = "fig biscuit 17 lanterns"


@pytest.fixture
def user():
    return staff(ROOT, superuser=True)


@pytest.fixture
def browser(user):
    """A session of Django admin alone."""
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def change(browser):
    """`change(old, new)` is the answer of the page."""

    def send(old=PASSWORD, new=NEW, *, again=""):
        form = {"old_password": old, "new_password1": new, "new_password2": again or new}
        return browser.post(PAGE, form)

    return send


def changed(answer):
    return answer.status_code == 302 and answer.url == "/admin/password_change/done/"


def refusals(answer):
    assert answer.status_code == 200
    return " ".join(str(text) for texts in answer.context["form"].errors.values() for text in texts)


# Guesses


def test_60_wrong_old_passwords_are_limited_and_recorded(change, told):
    answers = [change(f"wrong {number}") for number in range(60)]

    assert not any(changed(answer) for answer in answers)
    assert "Your old password was entered incorrectly" in refusals(answers[9])
    assert "Too many attempts. Try again in 15 minutes." in refusals(answers[10])
    assert "Too many attempts" in refusals(answers[-1])
    failed = told("auth.password.change_failed")
    assert len(failed) == 10  # the rest was refused before any password was checked
    assert {event.user for event in failed} == {the_user(ROOT)}
    assert (failed[0].metadata, failed[0].client.address) == (
        {"method": "django_admin"},
        "127.0.0.1",
    )
    assert len(told("security.account.throttled")) == 1
    assert "Too many attempts" in refusals(change())


def test_guesses_at_the_api_and_on_the_page_share_one_counter(change, user, api):
    token = api.log_in(ROOT)["access_token"]
    for _ in range(10):
        body = {"old_password": "wrong", "new_password": NEW}
        api.request("PUT", "change-password", body, token=token)

    assert "Too many attempts" in refusals(change())


def test_right_old_password_is_no_guess(change):
    for _ in range(12):
        assert "didn’t match" in refusals(change(again="another fig biscuit"))

    assert changed(change())


def test_page_without_a_free_slot_for_hashes_says_so(change, monkeypatch):
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
def test_password_against_the_policy_is_refused(change, user, told, new, words):
    assert words in refusals(change(new=new))

    assert the_user(ROOT).password == user.password
    assert told("auth.password.changed") == []


def test_password_is_stored_as_the_api_reads_it(change, api):
    typed = unicodedata.normalize("NFD", "fünf Äpfel und Birnen")

    assert changed(change(new=typed))

    assert api.post("login", email=ROOT, password=typed).status == 200
    form = {"username": the_user(ROOT).get_username(), "password": typed, "next": "/admin/"}
    assert Client().post("/admin/login/", form).status_code == 302


def test_password_that_was_changed_meanwhile_is_not_replaced(change, told, monkeypatch):
    real, theirs = own_password.change, make_password("a password of the owner 1")

    def late(*args):
        change_user(ROOT, password=theirs)
        return real(*args)

    monkeypatch.setattr(own_password, "change", late)

    assert "Your old password was entered incorrectly" in refusals(change())

    assert the_user(ROOT).password == theirs
    assert told("auth.password.changed") == []


# What follows from a change


def test_change_is_recorded(change, told):
    assert changed(change())

    (event,) = told("auth.password.changed")
    assert (event.user, event.target, event.actor_type) == (the_user(ROOT), None, "user")
    assert (event.metadata, event.client.address) == ({"method": "django_admin"}, "127.0.0.1")


def test_change_ends_the_sessions_and_devices_of_the_api(change, user, api):
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


def test_change_ends_other_sessions_of_django_admin_and_not_this_one(change, user, browser):
    other = Client()
    other.force_login(user)

    change()

    assert browser.get("/admin/").status_code == 200
    assert other.get("/admin/").status_code == 302


@pytest.fixture
def proven(user):
    kept = Account.objects.get(user=user)
    kept.verified_email_key = kept.proven_email_key = kept.email_key
    kept.save()


def test_change_is_mailed_to_the_proven_address_with_a_link_that_undoes_it(
    change, proven, api, django_capture_on_commit_callbacks
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


def test_user_without_an_account_changes_the_password(change, user):
    Account.objects.all().delete()

    assert changed(change())

    assert the_user(ROOT).check_password(NEW)
    assert not OneTimeToken.objects.exists()


# The page


def test_page_shows_the_fields_of_django(browser):
    shown = browser.get(PAGE).content.decode()

    for name in ("old_password", "new_password1", "new_password2"):
        assert f'name="{name}"' in shown
    assert "site-name" in shown


def test_page_needs_a_session(user):
    answer = Client().post(PAGE, {"old_password": PASSWORD})

    assert answer.status_code == 302
    assert answer.url.startswith("/admin/login/")
