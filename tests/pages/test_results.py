"""Browsers read results and errors of mailed links in words; programs still get JSON."""

import re

import pytest
from django.utils import translation

from authservice.core.messages import kinds
from authservice.core.models import Session
from tests.pages.reader import SAME
from tests.support.flows import ANN, account, prove, verify_path
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


# Tokens in cookies need the csrf module.
with_csrf = pytest.mark.parametrize("_pages", ["csrf"], indirect=True, scope="module")


@pytest.fixture
def guarded(configure):
    """The host keeps tokens in cookies."""
    configure(COOKIES={"ENABLED": True})


@pytest.fixture
def magic_link(api, post):
    api.post("magic-link/send", email=ANN)
    return post.link("magic-link")


def test_confirmed_address_is_a_page(flows, ann, reader):
    page = reader.open("/auth/" + verify_path(flows.email_token()))
    assert page.heading == "Confirm your address"

    done = reader.send(page, decision="confirm")

    assert (done.status, done.heading) == (200, "Your e-mail address is confirmed")
    assert account().verified_email_key == account().email_key


def test_denied_sign_up_is_a_page(flows, ann, reader):
    page = reader.open("/auth/" + verify_path(flows.email_token()))

    assert reader.send(page, decision="deny").heading == "The sign-up was undone"


def test_invalid_verification_link_is_a_page(reader):
    page = reader.open("/auth/verify-email?token=x&email=")

    assert (page.status, page.heading) == (400, "This link does not work")


def test_invalid_magic_link_is_a_page(reader, ann):
    page = reader.open("/auth/magic-link/verify?token=x")

    assert (page.status, page.heading) == (400, "This link does not work")


def test_magic_link_without_cookies_answers_in_json_since_a_page_would_lose_the_tokens(
    reader, ann, magic_link
):
    page = reader.send(reader.open(magic_link))

    assert "access_token" in page.response.json()["data"]


@with_csrf
def test_magic_link_with_cookies_signs_in_and_says_so(guarded, reader, ann, magic_link):
    done = reader.send(reader.open(magic_link))

    assert (done.status, done.heading) == (200, "You are signed in")
    assert "authservice_access" in reader.client.cookies
    assert reader.client.get("/auth/me").status_code == 200
    tokens = [reader.client.cookies[f"authservice_{name}"].value for name in ("access", "refresh")]
    assert not any(token in done.html for token in tokens)


@with_csrf
def test_magic_link_with_a_second_factor_asks_for_the_code(guarded, api, reader, post):
    ann = Person(api).sign_up().enrol()
    prove()
    api.post("magic-link/send", email=ANN)
    page = reader.send(reader.open(post.link("magic-link")))
    assert (page.status, page.heading) == (200, "Enter your code")
    assert page.inputs["code"]["autocomplete"] == "one-time-code"

    wrong = reader.send(page, code="000000")
    assert (wrong.status, wrong.heading) == (401, "Enter your code")
    assert "The code is not valid." in wrong.text
    done = reader.send(wrong, code=ann.backup_codes[0])

    assert (done.status, done.heading) == (200, "You are signed in")
    assert reader.client.get("/auth/me").status_code == 200


@with_csrf
def test_code_form_with_a_used_challenge_says_so(guarded, api, reader, post):
    ann = Person(api).sign_up().enrol()
    prove()
    api.post("magic-link/send", email=ANN)
    page = reader.send(reader.open(post.link("magic-link")))
    reader.send(page, code=ann.backup_codes[0])

    assert reader.send(page, code="000000").heading == "This link does not work"


@with_csrf
def test_accepted_invitation_with_cookies_signs_in(guarded, api, reader, post, ann):
    prove()
    api.post("invitations", token=ann["access_token"], email="bob@example.com")

    page = reader.open(post.link("invitation"))
    done = reader.send(page, name="Bob", password="plum tart 42 windows")

    assert "You are signed in." in done.text
    assert reader.client.get("/auth/me").json()["data"]["email"] == "bob@example.com"
    assert Session.objects.filter(user=the_user("bob@example.com"), ended_at=None).count() == 1


def test_security_link_that_is_cut_off_is_a_page(reader):
    page = reader.open("/auth/account/secure")

    assert (page.status, page.heading) == (400, "This link does not work")


def test_page_has_one_heading_a_main_landmark_and_a_language(flows, ann, reader, api, post):
    api.post("forgot-password", email=ANN)
    for link in (
        "/auth/" + verify_path(flows.email_token()),
        post.link(kinds.RESET_BY_LINK),
        "/auth/account/secure?token=x",
        "/auth/magic-link/verify?token=x",
        "/auth/invitations/accept?token=x",
    ):
        page = reader.open(link)
        assert len(re.findall("<h1>", page.html)) == 1
        assert "<main " in page.html
        assert '<html lang="en' in page.html
        assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page.html
        assert "prefers-color-scheme: dark" in page.html
        assert " style=" not in page.html


def test_program_gets_errors_in_json(api, ann):
    for headers in ({}, {"Accept": "application/json"}, {"Accept": "*/*"}):
        answer = api.get("magic-link/verify?token=x", headers={**headers, **SAME})
        assert answer.error == (400, "INVALID_TOKEN")


@pytest.mark.parametrize("language", ["de", "es", "fr"])
def test_page_and_its_errors_are_in_the_language_of_the_request(
    reader, api, post, ann, settings, language
):
    api.post("forgot-password", email=ANN)
    settings.LANGUAGE_CODE = language
    with translation.override(language):
        page = reader.open(post.link(kinds.RESET_BY_LINK))
        again = reader.send(page, new_password="x")
        heading = translation.gettext("Choose a new password")

    assert heading != "Choose a new password"
    assert (page.heading, again.heading) == (heading, heading)
    assert f'<html lang="{language}"' in page.html
    assert "Must have at least" not in again.text
