"""`COOKIES`: tokens in cookies beside the JSON, for browsers, whose scripts cannot read them."""

import pytest

from authservice.core.models import Session
from tests.csrf.visitor import ACCESS, REFRESH, Visitor
from tests.support.client import PASSWORD, Api
from tests.support.people import change

pytestmark = pytest.mark.django_db

ANN = {"email": "ann@example.com", "password": PASSWORD}


def set_by(answer):
    """Names and values of the token cookies that a response sets."""
    cookies = answer.response.cookies
    return {name: cookies[name].value for name in (ACCESS, REFRESH) if name in cookies}


def tokens_of(answer):
    return {ACCESS: answer.data["access_token"], REFRESH: answer.data["refresh_token"]}


class TestSet:
    def test_token_cookies_are_off_by_default(self, visitor):
        assert set_by(visitor.post("signup", ANN)) == {}

    def test_signup_and_login_set_the_token_cookies(self, with_cookies, visitor):
        signed_up, logged_in = visitor.post("signup", ANN), visitor.post("login", ANN)

        assert set_by(signed_up) == tokens_of(signed_up)
        assert set_by(logged_in) == tokens_of(logged_in)

    def test_refresh_by_cookie_or_body_sets_the_token_cookies(self, ann):
        by_cookie = ann.post("refresh")
        by_body = ann.post("refresh", {"refresh_token": by_cookie.data["refresh_token"]})

        assert set_by(by_cookie) == tokens_of(by_cookie)
        assert set_by(by_body) == tokens_of(by_body)

    def test_token_cookies_are_hidden_from_scripts_and_other_sites(self, with_cookies, visitor):
        cookies = visitor.post("signup", ANN).response.cookies

        for name in (ACCESS, REFRESH):
            cookie = cookies[name]
            assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
            assert (cookie["path"], cookie["domain"], cookie["secure"]) == ("/", "", "")

    def test_token_cookies_by_https_are_bound_to_the_host(self, with_cookies, api, configure):
        configure(API_URL="https://api.example.com")

        cookies = api.post("signup", **ANN).response.cookies

        assert {cookies[f"__Host-{name}"]["secure"] for name in (ACCESS, REFRESH)} == {True}
        assert not {ACCESS, REFRESH} & set(cookies)

    def test_token_cookies_expire_with_their_tokens(self, with_cookies, visitor):
        cookies = visitor.post("signup", ANN).response.cookies

        assert (cookies[ACCESS]["max-age"], cookies[REFRESH]["max-age"]) == (900, 7 * 24 * 3600)

    def test_host_can_set_names_and_samesite_of_token_cookies(self, configure, visitor):
        names = {"ACCESS_NAME": "in", "REFRESH_NAME": "on", "SAMESITE": "Strict"}
        configure(COOKIES={"ENABLED": True, **names})

        cookies = visitor.post("signup", ANN).response.cookies

        assert (cookies["in"]["samesite"], cookies["on"]["samesite"]) == ("Strict", "Strict")

    def test_refused_login_sets_no_token_cookies(self, ann):
        assert set_by(ann.post("login", {**ANN, "password": "wrong"})) == {}

    def test_token_too_long_for_a_cookie_deletes_the_earlier_cookie(self, ann, configure, caplog):
        configure(CORE={"CLAIMS_HOOK": "tests.csrf.claims.long"})

        cookie = ann.post("login", ANN).response.cookies[ACCESS]

        assert (cookie.value, cookie["max-age"]) == ("", 0)
        assert "exceeds 4096 bytes" in caplog.text


class TestIdentify:
    def test_access_cookie_identifies_the_caller(self, ann):
        assert ann.get("me").data["email"] == "ann@example.com"

    def test_request_without_a_cookie_is_unauthorized(self, with_cookies, visitor):
        assert visitor.get("me").error == (401, "UNAUTHORIZED")

    def test_header_takes_precedence_over_the_cookie(self, ann):
        token_of_ben = Api().sign_up("ben@example.com")["access_token"]

        assert (
            ann.get("me", Authorization=f"Bearer {token_of_ben}").data["email"] == "ben@example.com"
        )

    @pytest.mark.parametrize(
        ("header", "code"), [("Bearer nonsense", "INVALID_TOKEN"), ("Basic YTpi", "UNAUTHORIZED")]
    )
    def test_invalid_header_takes_precedence_too(self, ann, header, code):
        assert ann.get("me", Authorization=header).error == (401, code)

    def test_access_cookie_that_is_no_token_is_refused(self, ann):
        ann.plant(ACCESS, "nonsense")

        assert ann.get("me").error == (401, "INVALID_TOKEN")

    def test_refresh_token_in_the_access_cookie_is_refused(self, ann):
        ann.plant(ACCESS, ann.cookie(REFRESH))

        assert ann.get("me").error == (401, "INVALID_TOKEN")

    def test_changed_password_ends_the_access_cookie(self, ann):
        change(password="changed by the host")

        assert ann.get("me").error == (401, "INVALID_TOKEN")

    def test_access_cookie_is_ignored_if_token_cookies_are_off(self, ann, configure):
        configure(COOKIES={})

        assert ann.get("me").error == (401, "UNAUTHORIZED")

    def test_token_cookies_are_off_without_the_csrf_module(self, ann, settings):
        settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if "csrf" not in name]

        assert ann.get("me").error == (401, "UNAUTHORIZED")
        assert set_by(Api().post("login", **ANN)) == {}
        assert ann.post("refresh").error == (400, "VALIDATION_ERROR")

    def test_request_by_cookie_costs_no_additional_query(self, ann, django_assert_num_queries):
        ann.get("me")

        with django_assert_num_queries(1):
            ann.get("me")
        with django_assert_num_queries(1):
            ann.ask("PUT", "profile")


class TestPublic:
    """Public routes ignore token cookies."""

    @pytest.mark.parametrize("value", ["", "nonsense"])
    def test_login_with_an_invalid_token_cookie_succeeds(self, ann, value):
        ann.plant(ACCESS, value)
        ann.plant(REFRESH, value)

        assert ann.post("login", ANN).status == 200

    def test_login_with_the_csrf_token_of_another_session_succeeds(self, ann):
        ann.token = other_token()
        ann.plant("__service_csrf", ann.token)

        assert ann.post("login", ANN).status == 200


class TestLogout:
    def test_logout_ends_the_session_and_deletes_the_cookies(self, ann):
        kept = {name: ann.cookie(name) for name in (ACCESS, REFRESH)}

        answer = ann.post("logout")

        assert (answer.status, set_by(answer)) == (200, {ACCESS: "", REFRESH: ""})
        assert {answer.response.cookies[name]["max-age"] for name in kept} == {0}
        for name, value in kept.items():
            ann.plant(name, value)
        assert ann.get("me").error == (401, "INVALID_TOKEN")
        assert ann.post("refresh").error == (401, "INVALID_REFRESH_TOKEN")

    def test_logout_by_https_deletes_the_cookie_with_its_prefix(self, with_cookies, configure):
        configure(API_URL="https://api.example.com")
        token = Api().sign_up()["access_token"]

        cookie = Api().post("logout", token=token).response.cookies[f"__Host-{ACCESS}"]

        assert (cookie["max-age"], cookie["path"], cookie["secure"]) == (0, "/", True)

    def test_refused_logout_deletes_no_cookie(self, ann):
        ann.token = ""

        answer = ann.post("logout")

        assert (answer.code, set_by(answer)) == ("INVALID_CSRF", {})
        assert ann.get("me").status == 200

    def test_logout_without_token_cookies_sets_no_cookie(self, visitor):
        token = visitor.sign_up()["access_token"]

        assert not visitor.post("logout", Authorization=f"Bearer {token}").response.cookies


class TestRefresh:
    def test_refresh_without_a_token_in_the_body_uses_the_cookie(self, ann):
        assert ann.post("refresh").status == 200
        assert ann.post("refresh", {"refresh_token": None}).status == 200
        assert ann.get("me").status == 200

    def test_refresh_token_in_the_body_takes_precedence(self, ann):
        answer = ann.post("refresh", {"refresh_token": "nonsense"})

        assert (answer.error, set_by(answer)) == ((401, "INVALID_REFRESH_TOKEN"), {})

    def test_refresh_without_body_and_cookie_is_refused(self, with_cookies, visitor):
        answer = visitor.post("refresh")

        assert answer.error == (400, "VALIDATION_ERROR")
        assert answer.data["message"].startswith("refresh_token:")

    def test_refresh_works_without_the_access_cookie(self, ann):
        del ann.client.cookies[ACCESS]
        ann.fetch_token()

        assert ann.post("refresh").status == 200

    @pytest.mark.parametrize("value", ["nonsense", "a" * 600, "\xe4"])
    def test_refresh_with_an_invalid_cookie_deletes_the_cookies(self, ann, value):
        ann.plant(REFRESH, value)

        answer = ann.post("refresh")

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")
        assert set_by(answer) == {ACCESS: "", REFRESH: ""}

    def test_refresh_token_reused_after_leeway_deletes_the_cookies(self, clock, ann):
        old = ann.cookie(REFRESH)
        ann.post("refresh")
        clock.forward(seconds=11)
        ann.plant(REFRESH, old)

        answer = ann.post("refresh")

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")
        assert set_by(answer) == {ACCESS: "", REFRESH: ""}
        assert Session.objects.filter(end_reason="reuse").count() == 1

    def test_refresh_token_reused_within_leeway_keeps_the_new_cookies(self, ann):
        old = ann.cookie(REFRESH)
        ann.post("refresh")
        new = ann.cookie(REFRESH)
        ann.plant(REFRESH, old)

        answer = ann.post("refresh")

        assert (answer.error, set_by(answer)) == ((401, "INVALID_REFRESH_TOKEN"), {})
        ann.plant(REFRESH, new)
        assert ann.post("refresh").status == 200

    def test_refresh_without_csrf_token_deletes_no_cookie(self, ann):
        ann.token = ""

        answer = ann.post("refresh")

        assert (answer.error, set_by(answer)) == ((403, "INVALID_CSRF"), {})


def other_token():
    """A CSRF token for the session of another user."""
    ben = Visitor()
    ben.fetch_token()
    ben.sign_up("ben@example.com")
    return ben.fetch_token()
