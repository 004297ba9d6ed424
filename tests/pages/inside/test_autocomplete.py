"""Password managers know what to fill in and what to store: each form has the standard values of
`autocomplete` (HTML standard, section "Autofill"), and one with a password says whose it is."""

import re

import pytest

from authservice.core.messages import kinds
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.twofactor import people

pytestmark = pytest.mark.django_db

_INPUT = re.compile(r"<input ([^>]*)>")
_ATTRIBUTE = re.compile(r'([a-z-]+)(?:="([^"]*)")?')
PUBLIC = {
    "login": ["username webauthn", "current-password"],
    "signup": ["name", "email", "new-password"],
    "forgot-password": ["username"],
    "magic-link/send": ["username"],
    "send-verification-email": ["username"],
}
# The first one of these is hidden, with the address of the user.
OWN = {
    "security/password": ["username", "current-password", "new-password"],
    "security/factor": ["username", "current-password"],
    "profile/email": ["username", "email", "current-password"],
    "profile/phone": ["username", "tel", "current-password"],
    "profile/delete": ["username", "current-password"],
    "profile/username": ["username", "current-password"],
    "profile/name": ["name"],
    "security/passkey": ["off"],
}


def inputs(page):
    found = [dict(_ATTRIBUTE.findall(text)) for text in _INPUT.findall(page.html)]
    return [one for one in found if one.get("type") not in ("hidden", "checkbox")]


def values(page):
    return [one["autocomplete"] for one in inputs(page)]


@pytest.mark.parametrize("path", PUBLIC)
def test_public_form_has_the_values(path, person):
    assert values(person.open(f"/auth/{path}")) == PUBLIC[path]


@pytest.mark.parametrize("path", OWN)
def test_form_of_the_account_has_the_values(path, signed_in, configure):
    configure(CORE={"ALLOW_SELF_DELETE": True})

    page = signed_in.open(f"/auth/account/{path}")

    assert values(page) == OWN[path]
    shown = [one for one in inputs(page) if one["autocomplete"] == "username"]
    for one in shown:
        is_field = path == "profile/username"
        assert ("hidden" in one, "name" in one) == (not is_field, is_field)
        assert is_field or one["value"] == ANN


def test_new_password_of_a_link_says_whose_it_is(person, ann, post):
    person.send(person.open("/auth/forgot-password"), email=ANN)

    page = person.open(post.link(kinds.RESET_BY_LINK))

    assert values(page) == ["username", "new-password"]
    assert f'value="{ANN}" autocomplete="username" hidden' in page.html


def test_codes_are_one_time_codes(person, ann, api):
    factor = people.Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()
    page = person.sign_in(ANN, PASSWORD)
    assert values(page) == ["one-time-code"]
    person.send(page, code=factor.code(1))

    for form in ("factor-off", "backup-codes"):
        assert values(person.open(f"/auth/account/security/{form}")) == ["one-time-code"]
    page = person.send(person.open("/auth/magic-link/send?again=1"), email=ANN)
    assert values(page) == ["one-time-code"]
