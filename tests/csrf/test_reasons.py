"""The reason of a refusal is in the log and, under DEBUG, in the message."""

import pytest
from django.test import RequestFactory

from authservice.csrf.guard import guard
from authservice.kernel.errors import Fault
from tests.csrf.visitor import NAME, Visitor
from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db

ANN = {"email": "ann@example.com", "password": PASSWORD}
REFUSED = (403, "INVALID_CSRF")


class TestReasons:
    def without_header(self, visitor):
        visitor.token = ""
        return visitor.post("signup", ANN)

    def without_cookie(self, visitor):
        del visitor.client.cookies[NAME]
        return visitor.post("signup", ANN)

    def with_another_cookie(self, visitor):
        visitor.plant(NAME, Visitor().fetch_token())
        return visitor.post("signup", ANN)

    def with_a_token_of_its_own(self, visitor):
        visitor.token = "x" * 20
        visitor.plant(NAME, visitor.token)
        return visitor.post("signup", ANN)

    def from_another_origin(self, visitor):
        return visitor.post("signup", ANN, Origin="https://evil.example")

    @pytest.mark.parametrize(
        ("send", "reason"),
        [
            (without_header, "there is no header X-CSRF-Token"),
            (without_cookie, "localhost and 127.0.0.1 are two sites"),
            (with_another_cookie, "header and cookie differ"),
            (with_a_token_of_its_own, "was not issued by this service"),
            (from_another_origin, "the origin 'https://evil.example' is not trusted"),
        ],
    )
    def test_reason_is_logged_and_shown_under_debug_only(
        self, visitor, settings, caplog, send, reason
    ):
        another = Visitor()
        another.fetch_token()
        assert reason not in send(self, visitor).body["message"]
        assert reason in caplog.text

        settings.DEBUG = True
        assert reason in send(self, another).body["message"]

    def test_entry_names_the_route_and_the_client_and_no_secret(self, visitor, caplog):
        visitor.plant(NAME, Visitor().fetch_token())

        visitor.post("signup?token=mailed", ANN)

        (entry,) = [one.getMessage() for one in caplog.records if one.name == "authservice.csrf"]
        assert entry.startswith("Refused POST '/auth/signup' from 127.0.0.1: ")
        for secret in (visitor.token, "mailed", PASSWORD):
            assert secret not in entry

    def test_path_of_a_view_of_the_host_adds_no_line_to_the_log(self, caplog):
        request = RequestFactory().post("/orders/\nRefused everything")

        with pytest.raises(Fault):
            guard.check(request)

        assert "\n" not in caplog.records[-1].getMessage()

    def test_expired_token_says_so(self, clock, caplog):
        visitor = Visitor()
        visitor.fetch_token()
        clock.forward(hours=2)

        assert visitor.post("signup", ANN).error == REFUSED
        assert "older than CSRF.TTL" in caplog.text

    def test_token_of_another_session_says_so(self, ann, caplog):
        ann.token = Visitor().fetch_token()
        ann.plant(NAME, ann.token)

        assert ann.post("logout").error == REFUSED
        assert "issued for another session" in caplog.text
