"""Where our own cookie speaks for somebody, the token must have been made for that sign-in.

A cookie can be planted: by a sub-domain, by a man in the middle of some http page, by whoever had
the browser before. Whoever plants one knows a pair of ours, which he fetched for himself.
"""

import pytest

from authservice.kernel import crypto
from tests.client import PASSWORD, Api
from tests.csrf.visitor import ACCESS, NAME, REFRESH, Visitor

pytestmark = pytest.mark.django_db

REFUSED = (403, "INVALID_CSRF")
ANN = {"email": "ann@example.com", "password": PASSWORD}


def plant(visitor, token):
    visitor.plant(NAME, token)
    visitor.token = token


def of_another():
    """A token that somebody fetched who is signed in by cookies himself."""
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
    def test_the_own_token_passes(self, ann, method, path, body):
        assert ann.ask(method, path, body).status == 200

    def test_a_token_that_anybody_fetched_is_refused(self, ann, method, path, body):
        plant(ann, Visitor().fetch_token())

        assert ann.ask(method, path, body).error == REFUSED

    def test_a_token_of_another_sign_in_is_refused(self, ann, method, path, body):
        plant(ann, of_another())

        assert ann.ask(method, path, body).error == REFUSED

    def test_the_token_of_before_the_login_is_refused(self, ann, method, path, body):
        ann.post("login", ANN)

        assert ann.ask(method, path, body).error == REFUSED


def test_a_refused_request_has_done_nothing(ann):
    plant(ann, of_another())

    ann.ask("PUT", "profile", {"name": "Eve"})

    assert ann.get("me").data["name"] == ""


def test_the_token_lasts_beyond_a_refresh(ann):
    ann.post("refresh")

    assert ann.ask("PUT", "profile").status == 200


@pytest.mark.parametrize("left", [ACCESS, REFRESH])
def test_either_cookie_is_enough_to_get_the_token_for_the_sign_in(ann, left):
    taken = ann.client.cookies.pop({ACCESS: REFRESH, REFRESH: ACCESS}[left])
    ann.fetch_token()
    ann.plant(taken.key, taken.value)

    assert ann.post("logout").status == 200


def test_a_forged_cookie_gets_no_token_for_the_sign_in_it_names(ann):
    own = ann.token
    for name in (ACCESS, REFRESH):
        value = ann.cookie(name)
        ann.plant(name, value[:-4] + ("AAAA" if value[-4:] != "AAAA" else "BBBB"))
    forged = ann.fetch_token()

    assert owner(own)
    assert owner(forged) == ""


def owner(token):
    return crypto.unsign("csrf", token).split(".")[2]


def test_by_bearer_token_any_pair_of_ours_passes(ann):
    """No browser sends that header unasked, so the pair proves no more than the place."""
    bens = Api().sign_up("ben@example.com")["access_token"]
    plant(ann, Visitor().fetch_token())

    assert ann.ask("PUT", "profile", {"name": "Ben"}, bearer=bens).data["name"] == "Ben"


def test_by_the_refresh_token_of_the_body_any_pair_of_ours_passes(ann):
    token = ann.cookie(REFRESH)
    plant(ann, Visitor().fetch_token())

    assert ann.post("refresh", {"refresh_token": token}).status == 200


def test_what_changes_nothing_needs_no_token(ann):
    ann.token = ""

    assert ann.get("me").status == 200
