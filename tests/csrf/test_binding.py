"""If a cookie identifies the caller, the CSRF token must have been issued for that session.

An attacker can plant a cookie: from a sub-domain, as a man in the middle of any http page, or by
an earlier use of the browser. The attacker can fetch a valid pair of cookie and header for this.
"""

import pytest

from authservice.kernel import secret
from tests.csrf.visitor import ACCESS, NAME, REFRESH, Visitor
from tests.support.client import PASSWORD, Api

pytestmark = pytest.mark.django_db

REFUSED = (403, "INVALID_CSRF")
ANN = {"email": "ann@example.com", "password": PASSWORD}


def plant(visitor, token):
    visitor.plant(NAME, token)
    visitor.token = token


def token_of_another_session():
    """A CSRF token for the session of another user."""
    eve = Visitor()
    eve.fetch_token()
    eve.sign_up("eve@example.com")
    return eve.fetch_token()


ROUTES = [
    ("PUT", "profile", {}),
    ("POST", "logout", {}),
    ("PUT", "change-password", {"old_password": PASSWORD, "new_password": "another plum 43"}),
    ("POST", "refresh", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
class TestByCookie:
    def test_token_of_the_own_session_is_accepted(self, ann, method, path, body):
        assert ann.ask(method, path, body).status == 200

    def test_token_without_a_session_is_refused(self, ann, method, path, body):
        plant(ann, Visitor().fetch_token())

        assert ann.ask(method, path, body).error == REFUSED

    def test_token_of_another_session_is_refused(self, ann, method, path, body):
        plant(ann, token_of_another_session())

        assert ann.ask(method, path, body).error == REFUSED

    def test_token_of_an_earlier_session_is_refused(self, ann, method, path, body):
        ann.post("login", ANN)

        assert ann.ask(method, path, body).error == REFUSED


def test_refused_request_changes_nothing(ann):
    plant(ann, token_of_another_session())

    ann.ask("PUT", "profile", {"name": "Eve"})

    assert ann.get("me").data["name"] == ""


def test_token_is_still_valid_after_a_refresh(ann):
    ann.post("refresh")

    assert ann.ask("PUT", "profile").status == 200


@pytest.mark.parametrize("left", [ACCESS, REFRESH])
def test_token_for_the_session_is_issued_for_either_cookie(ann, left):
    taken = ann.client.cookies.pop({ACCESS: REFRESH, REFRESH: ACCESS}[left])
    ann.fetch_token()
    ann.plant(taken.key, taken.value)

    assert ann.post("logout").status == 200


def test_token_for_a_session_is_not_issued_for_a_forged_cookie(ann):
    own = ann.token
    for name in (ACCESS, REFRESH):
        value = ann.cookie(name)
        ann.plant(name, value[:-4] + ("AAAA" if value[-4:] != "AAAA" else "BBBB"))
    forged = ann.fetch_token()

    assert owner(own)
    assert owner(forged) == ""


def owner(token):
    return secret.timestamp_signer("csrf").unsign(token).split(".")[1]


def test_request_by_bearer_token_accepts_any_valid_pair(ann):
    """A browser never sends that header by itself, so the pair need not be bound to a session."""
    token_of_ben = Api().sign_up("ben@example.com")["access_token"]
    plant(ann, Visitor().fetch_token())

    assert ann.ask("PUT", "profile", {"name": "Ben"}, bearer=token_of_ben).data["name"] == "Ben"


def test_refresh_by_the_token_in_the_body_accepts_any_valid_pair(ann):
    token = ann.cookie(REFRESH)
    plant(ann, Visitor().fetch_token())

    assert ann.post("refresh", {"refresh_token": token}).status == 200


def test_request_that_changes_nothing_needs_no_token(ann):
    ann.token = ""

    assert ann.get("me").status == 200
