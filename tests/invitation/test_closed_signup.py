"""With `CORE.ALLOW_SIGNUP = False` an invitation is the only way to sign up."""

import pytest

from tests.magiclink.magic import Magic
from tests.support.mounted import mounted
from tests.support.people import users

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True, scope="module")
def _magic_links(_invitations):
    with mounted("authservice.magiclink"):
        yield


@pytest.fixture
def token(invites, configure):
    """The token of an invitation that was sent before the sign-up was closed."""
    token = invites.mailed()
    configure(CORE={"ALLOW_SIGNUP": False}, MAGICLINK={"AUTO_REGISTER": True})
    return token


def test_invited_address_gets_an_account(invites, token):
    assert invites.accept_as_new(token).data["is_new_user"] is True
    assert invites.send("carol@example.com").status == 201


def test_sign_up_is_closed_also_for_the_invited_address(api, token):
    refused = api.post("signup", email="bob@example.com", password="plum tart 42 windows")

    assert refused.error == (403, "SIGNUP_DISABLED")


def test_magic_link_creates_no_account(api, post, token):
    magic = Magic(api, post)

    assert magic.ask("bob@example.com").status == 200

    assert magic.message() is None
    assert users() == 1


def test_token_of_no_invitation_creates_no_account(invites, token):
    assert invites.accept_as_new("x" * 43).error == (404, "INVITATION_NOT_FOUND")
    assert users() == 1
