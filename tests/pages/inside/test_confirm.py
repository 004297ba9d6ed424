"""The page that asks for a proof again, for a view of the project and a form of the account."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.utils import timezone

from authservice.core.models import Session
from authservice.core.sessions import revocation
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.modules import plugged
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.twofactor import people

pytestmark = pytest.mark.django_db


@pytest.fixture
def app(signed_in):
    """The app of a user whose session proved the password only."""
    page = signed_in.send(signed_in.open("/auth/account/security/factor"), password=PASSWORD)
    secret = re.search(r"<code>([A-Z2-7]{16,})</code>", page.html)[1]
    made = people.app_of(f"otpauth://totp/x?secret={secret}")
    signed_in.post(page, code=made.now())
    return made


def test_recent_proof_reaches_the_view_at_once(signed_in):
    assert signed_in.open("/transfer").html == "transfer of ann"


def test_password_is_asked_for_and_leads_back(signed_in):
    age_sessions()
    page = signed_in.open("/transfer")
    assert page.heading == "Confirm that it is you"
    wrong = signed_in.send(page, password="wrong")
    assert (wrong.status, wrong.errors) == (400, {"password": "This password is not right."})

    assert signed_in.send(wrong, password=PASSWORD).html == "transfer of ann"
    assert signed_in.open("/transfer").html == "transfer of ann"


def test_code_is_asked_for_where_two_factors_are(signed_in, app):
    page = signed_in.open("/vault")
    assert 'name="code"' in page.html
    assert 'name="password"' not in page.html

    assert signed_in.send(page, code=app.at(people.time.time() + 30)).html == "vault"


def test_user_without_a_second_factor_is_led_to_where_it_is_set_up(signed_in):
    page = signed_in.open("/vault")

    assert (page.status, page.heading) == (403, "This page asks for more")
    assert signed_in.open(page.link("Set it up")).heading == "Security"


class Texted(SecondFactor):
    """A second factor of the project, whose codes its own pages ask for."""

    method = "sms"

    def ask(self, arrival):
        return None

    def is_enabled(self, person):
        return True


def test_user_with_a_factor_of_the_project_alone_is_led_to_the_login(signed_in):
    with plugged("second_factor", Texted()):
        page = signed_in.open("/vault")

    assert (page.status, page.heading) == (403, "This page asks for more")
    assert page.link("Sign in again").startswith("/auth/login?again=1")


def test_user_whose_session_proved_too_little_signs_in_again(signed_in, app):
    """A second factor alone is one factor, as in a session that was continued."""
    Session.objects.update(levels="")
    page = signed_in.open("/vault")
    assert (page.status, page.heading) == (403, "This page asks for more")

    again = signed_in.send(
        signed_in.open(page.link("Sign in again")), identifier=ANN, password=PASSWORD
    )
    assert signed_in.send(again, code=app.at(people.time.time() + 30)).html == "vault"


def test_visitor_is_led_to_the_login(person, ann):
    page = person.open("/transfer")

    assert 'name="identifier"' in page.html
    assert person.send(page, identifier=ANN, password=PASSWORD).html == "transfer of ann"


def test_form_whose_token_is_missing_asks_again(signed_in):
    age_sessions()
    page = signed_in.open("/transfer")

    again = signed_in.post(page, password=PASSWORD, csrfmiddlewaretoken=None)

    assert again.heading == "Confirm that it is you"
    assert signed_in.open("/transfer").heading == "Confirm that it is you"


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example/", "/\\evil.example"])
def test_it_leads_to_no_other_site(signed_in, target):
    page = signed_in.visit(f"/auth/confirm?next={target}")

    sent = signed_in.post(page, password=PASSWORD)

    assert sent.status == 303
    assert "evil" not in sent.location


def test_form_of_the_account_says_what_is_missing(signed_in, configure):
    route = {"PUT /profile": {"acr": "aal1", "max_age": 600}}
    configure(STEP_UP={"FURTHER_ROUTES": route})
    age_sessions()
    page = signed_in.send(signed_in.open("/auth/account/profile/name"), name="Ann Lee")
    assert page.alert == "Confirm that it is you to do this."

    page = signed_in.open(page.link("Confirm that it is you"))
    page = signed_in.send(page, password=PASSWORD)
    assert page.url.endswith("/auth/account/profile/name")
    assert signed_in.send(page, name="Ann Lee").notice == "Your name was changed."


@pytest.mark.parametrize("path", ["account/profile", "account"])
def test_section_whose_route_is_guarded_asks_for_the_proof(signed_in, configure, path):
    configure(STEP_UP={"FURTHER_ROUTES": {"GET /me": {"max_age": 60}}})
    with time_machine.travel(timezone.now() + timedelta(minutes=2), tick=True):
        page = signed_in.open(f"/auth/{path}")
        assert page.heading == "Confirm that it is you"

        page = signed_in.send(page, password=PASSWORD)

        assert page.heading == "Profile"


def test_section_that_needs_a_second_factor_says_what_to_set_up(signed_in, configure):
    configure(STEP_UP={"FURTHER_ROUTES": {"GET /me": {"acr": "aal2"}}})

    page = signed_in.open("/auth/account/profile")

    assert "Set up a second one or a passkey, and come back." in page.text


def test_form_of_an_ended_session_is_opened_again_with_its_query(signed_in):
    page = signed_in.open("/auth/confirm?acr_values=aal1&next=/orders")
    revocation.revoke_users([get_user_model().objects.get()])

    sent = signed_in.post(page, password=PASSWORD)

    again = parse_qs(urlsplit(sent.location).query)["next"][0]
    assert again == "/auth/confirm?acr_values=aal1&next=%2Forders"
