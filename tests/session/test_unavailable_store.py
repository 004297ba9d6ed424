"""A store that cannot be asked lets nobody through."""

import logging

import pytest
from django.test import override_settings

from authservice.core.models import Session
from authservice.core.sessions import revocation
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.people import the_user
from tests.session.asking import AWAY, ENDS, REFUSED, me, refresh
from tests.session.conftest import redis_cache
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def away(settings, sessions):
    """`away()` cuts the store off: nothing listens where its Redis should be."""

    def cut():
        gone = override_settings(
            CACHES={**settings.CACHES, "sessions": redis_cache("redis://127.0.0.1:1")}
        )
        gone.enable()
        cuts.append(gone)
        sessions(STORE="cache", CACHE="sessions")

    cuts = []
    yield cut
    for gone in cuts:
        gone.disable()


class TestAway:
    """A store that cannot be asked lets nobody through."""

    def test_a_request_is_refused(self, api, away):
        tokens = api.sign_up()
        away()

        assert is_refusal(me(api, tokens), *AWAY)

    def test_a_refresh_is_refused_and_spends_nothing(self, api, away, sessions):
        tokens = api.sign_up()
        away()

        assert is_refusal(refresh(api, tokens), *AWAY)
        sessions(STORE="database")
        assert refresh(api, tokens).status == 200

    @pytest.mark.parametrize("path", ["login", "signup"])
    def test_nobody_comes_in(self, api, away, path):
        api.sign_up()
        away()
        email = {"login": "ann@example.com", "signup": "bob@example.com"}[path]

        answer = api.post(path, email=email, password=PASSWORD)

        assert is_refusal(answer, *AWAY)
        assert Session.objects.count() == 1

    def test_logins_that_are_refused_so_are_no_guesses(self, api, away, sessions):
        api.sign_up()
        away()
        for _ in range(11):
            assert is_refusal(api.post("login", email="ann@example.com", password=PASSWORD), *AWAY)

        sessions(STORE="database")

        assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200

    @pytest.mark.parametrize("tokens", ["one", "many"])
    def test_right_codes_that_are_refused_so_are_no_guesses(self, api, away, sessions, tokens):
        ann = Person(api).sign_up().enrol()
        away()
        temp_token = ann.temp_token()
        for _ in range(11):
            again = temp_token if tokens == "one" else ann.temp_token()
            assert is_refusal(ann.verify_login(ann.code(1), again), *AWAY)

        sessions(STORE="database")

        assert ann.verify_login(ann.code(1), temp_token).status == 200

    def test_a_login_that_is_refused_so_ends_no_other(self, api, away, sessions, configure):
        tokens = api.sign_up()
        away()
        sessions(STORE="cache", CACHE="sessions", MAX_PER_USER=1)
        api.post("login", email="ann@example.com", password=PASSWORD)

        sessions(STORE="database")

        assert me(api, tokens).status == 200

    @pytest.mark.parametrize("path", ["sessions", "logout"])
    def test_nothing_is_ended(self, api, away, path):
        tokens = api.sign_up()
        away()
        method = {"sessions": "DELETE", "logout": "POST"}[path]

        assert is_refusal(api.request(method, path, token=tokens["access_token"]), *AWAY)
        assert Session.objects.get().ended_at is None

    def test_a_bad_token_is_refused_as_ever(self, api, away):
        tokens = api.sign_up()
        ENDS["logout"](api, tokens)
        away()

        assert me(api, tokens).error == REFUSED

    def test_whoever_ends_sessions_by_other_roads_is_not_hindered(self, api, away, sessions):
        tokens = api.sign_up()
        away()

        revocation.revoke_users([the_user()])

        sessions(STORE="database")
        assert me(api, tokens).error == REFUSED

    def test_operators_read_why_and_no_address_of_anybody(self, api, away, caplog):
        tokens = api.sign_up()
        away()
        with caplog.at_level(logging.ERROR, "authservice.session"):
            me(api, tokens)

        [record] = [r for r in caplog.records if r.name == "authservice.session"]
        assert "The session store 'cache' failed" in record.getMessage()
        assert tokens["access_token"] not in caplog.text
