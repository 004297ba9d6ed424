"""While the session store is unavailable, every request is refused."""

import logging
from functools import partial

import pytest
from django.test import override_settings

from authservice.core.models import Session
from authservice.core.sessions import revocation
from tests.contract.shapes import is_refusal
from tests.session.conftest import redis_cache
from tests.session.session_requests import ENDS, REFUSED, UNAVAILABLE, me, refresh
from tests.support.client import PASSWORD
from tests.support.flows import Flows, email_verified, verify_path
from tests.support.messenger.post import receiving_jobs
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def disconnect(settings, sessions):
    """`disconnect()` makes the store unavailable: nothing listens at the address of its Redis."""

    def make_unavailable():
        change = override_settings(
            CACHES={**settings.CACHES, "sessions": redis_cache("redis://127.0.0.1:1")}
        )
        change.enable()
        changes.append(change)
        sessions(STORE="cache", CACHE="sessions")

    changes = []
    yield make_unavailable
    for change in changes:
        change.disable()


class TestUnavailable:
    """While the session store is unavailable, every request is refused."""

    def test_unavailable_store_refuses_a_request(self, api, disconnect):
        tokens = api.sign_up()
        disconnect()

        assert is_refusal(me(api, tokens), *UNAVAILABLE)

    def test_unavailable_store_refuses_a_refresh_and_keeps_its_token_valid(
        self, api, disconnect, sessions
    ):
        tokens = api.sign_up()
        disconnect()

        assert is_refusal(refresh(api, tokens), *UNAVAILABLE)
        sessions(STORE="database")
        assert refresh(api, tokens).status == 200

    @pytest.mark.parametrize("path", ["login", "signup"])
    def test_unavailable_store_refuses_login_and_signup(self, api, disconnect, path):
        api.sign_up()
        disconnect()
        email = {"login": "ann@example.com", "signup": "bob@example.com"}[path]

        answer = api.post(path, email=email, password=PASSWORD)

        assert is_refusal(answer, *UNAVAILABLE)
        assert Session.objects.count() == 1

    def test_unavailable_store_does_not_count_refused_logins_as_attempts(
        self, api, disconnect, sessions
    ):
        api.sign_up()
        disconnect()
        for _ in range(11):
            assert is_refusal(
                api.post("login", email="ann@example.com", password=PASSWORD), *UNAVAILABLE
            )

        sessions(STORE="database")

        assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200

    @pytest.mark.parametrize("tokens", ["one", "many"])
    def test_unavailable_store_does_not_count_right_codes_as_attempts(
        self, api, disconnect, sessions, tokens
    ):
        ann = Person(api).sign_up().enrol()
        disconnect()
        temp_token = ann.temp_token()
        for _ in range(11):
            again = temp_token if tokens == "one" else ann.temp_token()
            assert is_refusal(ann.verify_login(ann.code(1), again), *UNAVAILABLE)

        sessions(STORE="database")

        assert ann.verify_login(ann.code(1), temp_token).status == 200

    def test_unavailable_store_refuses_a_login_without_ending_other_sessions(
        self, api, disconnect, sessions, configure
    ):
        tokens = api.sign_up()
        disconnect()
        sessions(STORE="cache", CACHE="sessions", MAX_PER_USER=1)
        api.post("login", email="ann@example.com", password=PASSWORD)

        sessions(STORE="database")

        assert me(api, tokens).status == 200

    @pytest.mark.parametrize("path", ["sessions", "logout"])
    def test_unavailable_store_refuses_to_end_sessions(self, api, disconnect, path):
        tokens = api.sign_up()
        disconnect()
        method = {"sessions": "DELETE", "logout": "POST"}[path]

        assert is_refusal(api.request(method, path, token=tokens["access_token"]), *UNAVAILABLE)
        assert Session.objects.get().ended_at is None

    def test_unavailable_store_keeps_a_verification_link_valid(
        self, api, disconnect, sessions, configure
    ):
        frontend = {"URL": "https://app.example", "VERIFY_EMAIL_CALLBACK_PATH": "/verified"}
        configure(FRONTEND=frontend)
        with receiving_jobs() as post:
            token = api.sign_up()["access_token"]
            click = partial(api.get, verify_path(Flows(api, post).email_token()), token=token)
        disconnect()

        assert is_refusal(click(), *UNAVAILABLE)

        sessions(STORE="database")
        assert click().headers["Location"] == "https://app.example/verified?status=success"
        assert email_verified(token, api)

    def test_unavailable_store_keeps_the_error_of_an_invalid_token(self, api, disconnect):
        tokens = api.sign_up()
        ENDS["logout"](api, tokens)
        disconnect()

        assert me(api, tokens).error == REFUSED

    def test_unavailable_store_does_not_prevent_revocation_by_staff(
        self, api, disconnect, sessions
    ):
        tokens = api.sign_up()
        disconnect()

        revocation.revoke_users([the_user()])

        sessions(STORE="database")
        assert me(api, tokens).error == REFUSED

    def test_unavailable_store_is_logged_without_a_token(self, api, disconnect, caplog):
        tokens = api.sign_up()
        disconnect()
        with caplog.at_level(logging.ERROR, "authservice.session"):
            me(api, tokens)

        [record] = [r for r in caplog.records if r.name == "authservice.session"]
        assert "The session store 'cache' failed" in record.getMessage()
        assert tokens["access_token"] not in caplog.text
