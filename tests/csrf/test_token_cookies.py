"""`COOKIES`: tokens in cookies beside the JSON, for a browser that should not see them."""

import pytest

from authservice.core.models import Session
from tests.client import PASSWORD, Api
from tests.csrf.visitor import ACCESS, REFRESH, Visitor
from tests.people import change

pytestmark = pytest.mark.django_db

ANN = {"email": "ann@example.com", "password": PASSWORD}


def set_by(answer):
    """Name and value of each token cookie that an answer sets."""
    cookies = answer.response.cookies
    return {name: cookies[name].value for name in (ACCESS, REFRESH) if name in cookies}


def tokens_of(answer):
    return {ACCESS: answer.data["access_token"], REFRESH: answer.data["refresh_token"]}


class TestPut:
    def test_off_by_default(self, visitor):
        assert set_by(visitor.post("signup", ANN)) == {}

    def test_by_signing_up_and_in(self, with_cookies, visitor):
        signed_up, logged_in = visitor.post("signup", ANN), visitor.post("login", ANN)

        assert set_by(signed_up) == tokens_of(signed_up)
        assert set_by(logged_in) == tokens_of(logged_in)

    def test_by_a_refresh_of_either_kind(self, ann):
        by_cookie = ann.post("refresh")
        by_body = ann.post("refresh", {"refresh_token": by_cookie.data["refresh_token"]})

        assert set_by(by_cookie) == tokens_of(by_cookie)
        assert set_by(by_body) == tokens_of(by_body)

    def test_out_of_reach_of_scripts_and_other_sites(self, with_cookies, visitor):
        cookies = visitor.post("signup", ANN).response.cookies

        for name in (ACCESS, REFRESH):
            cookie = cookies[name]
            assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
            assert (cookie["path"], cookie["domain"], cookie["secure"]) == ("/", "", "")

    def test_by_https_bound_to_this_very_host(self, with_cookies, api, configure):
        configure(API_URL="https://api.example.com")

        cookies = api.post("signup", **ANN).response.cookies

        assert {cookies[f"__Host-{name}"]["secure"] for name in (ACCESS, REFRESH)} == {True}
        assert not {ACCESS, REFRESH} & set(cookies)

    def test_for_as_long_as_the_tokens_live(self, with_cookies, visitor):
        cookies = visitor.post("signup", ANN).response.cookies

        assert (cookies[ACCESS]["max-age"], cookies[REFRESH]["max-age"]) == (900, 7 * 24 * 3600)

    def test_under_the_names_and_flags_of_the_host(self, configure, visitor):
        names = {"ACCESS_NAME": "in", "REFRESH_NAME": "on", "SAMESITE": "Strict"}
        configure(COOKIES={"ENABLED": True, **names})

        cookies = visitor.post("signup", ANN).response.cookies

        assert (cookies["in"]["samesite"], cookies["on"]["samesite"]) == ("Strict", "Strict")

    def test_not_by_a_refused_login(self, ann):
        assert set_by(ann.post("login", {**ANN, "password": "wrong"})) == {}

    def test_a_cookie_that_no_browser_keeps_takes_the_one_before_away(self, ann, configure, caplog):
        configure(CORE={"CLAIMS_HOOK": "tests.csrf.claims.long"})

        cookie = ann.post("login", ANN).response.cookies[ACCESS]

        assert (cookie.value, cookie["max-age"]) == ("", 0)
        assert "exceeds 4096 bytes" in caplog.text


class TestCount:
    def test_the_cookie_identifies_the_caller(self, ann):
        assert ann.get("me").data["email"] == "ann@example.com"

    def test_without_one_the_caller_is_unauthorized(self, with_cookies, visitor):
        assert visitor.get("me").error == (401, "UNAUTHORIZED")

    def test_the_header_wins(self, ann):
        bens = Api().sign_up("ben@example.com")["access_token"]

        assert ann.get("me", Authorization=f"Bearer {bens}").data["email"] == "ben@example.com"

    @pytest.mark.parametrize(
        ("header", "code"), [("Bearer nonsense", "INVALID_TOKEN"), ("Basic YTpi", "UNAUTHORIZED")]
    )
    def test_a_header_that_is_of_no_use_wins_too(self, ann, header, code):
        assert ann.get("me", Authorization=header).error == (401, code)

    def test_a_cookie_that_is_no_token_of_ours_is_invalid(self, ann):
        ann.plant(ACCESS, "nonsense")

        assert ann.get("me").error == (401, "INVALID_TOKEN")

    def test_a_refresh_token_in_its_place_is_invalid(self, ann):
        ann.plant(ACCESS, ann.cookie(REFRESH))

        assert ann.get("me").error == (401, "INVALID_TOKEN")

    def test_a_changed_password_ends_it(self, ann):
        change(password="changed behind our back")

        assert ann.get("me").error == (401, "INVALID_TOKEN")

    def test_where_they_are_off_a_cookie_is_not_looked_at(self, ann, configure):
        configure(COOKIES={})

        assert ann.get("me").error == (401, "UNAUTHORIZED")

    def test_without_the_csrf_module_they_are_off_whatever_is_set(self, ann, settings):
        settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if "csrf" not in name]

        assert ann.get("me").error == (401, "UNAUTHORIZED")
        assert set_by(Api().post("login", **ANN)) == {}
        assert ann.post("refresh").error == (400, "VALIDATION_ERROR")

    def test_a_request_by_cookie_costs_no_query_more(self, ann, django_assert_num_queries):
        ann.get("me")

        with django_assert_num_queries(1):
            ann.get("me")
        with django_assert_num_queries(1):
            ann.ask("PUT", "profile")


class TestPublic:
    """Public routes look at no token cookie."""

    @pytest.mark.parametrize("value", ["", "nonsense"])
    def test_a_broken_cookie_harms_no_login(self, ann, value):
        ann.plant(ACCESS, value)
        ann.plant(REFRESH, value)

        assert ann.post("login", ANN).status == 200

    def test_a_token_for_another_sign_in_harms_no_login(self, ann):
        ann.token = other_token()
        ann.plant("__service_csrf", ann.token)

        assert ann.post("login", ANN).status == 200


class TestLogout:
    def test_it_ends_the_sign_in_and_takes_the_cookies_away(self, ann):
        kept = {name: ann.cookie(name) for name in (ACCESS, REFRESH)}

        answer = ann.post("logout")

        assert (answer.status, set_by(answer)) == (200, {ACCESS: "", REFRESH: ""})
        assert {answer.response.cookies[name]["max-age"] for name in kept} == {0}
        for name, value in kept.items():
            ann.plant(name, value)
        assert ann.get("me").error == (401, "INVALID_TOKEN")
        assert ann.post("refresh").error == (401, "INVALID_REFRESH_TOKEN")

    def test_by_https_under_the_same_prefix(self, with_cookies, configure):
        configure(API_URL="https://api.example.com")
        token = Api().sign_up()["access_token"]

        cookie = Api().post("logout", token=token).response.cookies[f"__Host-{ACCESS}"]

        assert (cookie["max-age"], cookie["path"], cookie["secure"]) == (0, "/", True)

    def test_a_refused_logout_takes_nothing_away(self, ann):
        ann.token = ""

        answer = ann.post("logout")

        assert (answer.code, set_by(answer)) == ("INVALID_CSRF", {})
        assert ann.get("me").status == 200

    def test_where_they_are_off_it_sets_no_cookie(self, visitor):
        token = visitor.sign_up()["access_token"]

        assert not visitor.post("logout", Authorization=f"Bearer {token}").response.cookies


class TestRefresh:
    def test_the_cookie_serves_where_the_body_has_no_token(self, ann):
        assert ann.post("refresh").status == 200
        assert ann.post("refresh", {"refresh_token": None}).status == 200
        assert ann.get("me").status == 200

    def test_the_body_wins(self, ann):
        answer = ann.post("refresh", {"refresh_token": "nonsense"})

        assert (answer.error, set_by(answer)) == ((401, "INVALID_REFRESH_TOKEN"), {})

    def test_without_either_it_is_required(self, with_cookies, visitor):
        answer = visitor.post("refresh")

        assert answer.error == (400, "VALIDATION_ERROR")
        assert answer.data["message"].startswith("refresh_token:")

    def test_it_works_once_the_access_token_is_gone(self, ann):
        del ann.client.cookies[ACCESS]
        ann.fetch_token()

        assert ann.post("refresh").status == 200

    @pytest.mark.parametrize("value", ["nonsense", "a" * 600, "\xe4"])
    def test_a_cookie_that_is_no_token_is_taken_away(self, ann, value):
        ann.plant(REFRESH, value)

        answer = ann.post("refresh")

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")
        assert set_by(answer) == {ACCESS: "", REFRESH: ""}

    def test_a_replay_that_is_theft_takes_them_away(self, clock, ann):
        old = ann.cookie(REFRESH)
        ann.post("refresh")
        clock.forward(seconds=11)
        ann.plant(REFRESH, old)

        answer = ann.post("refresh")

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")
        assert set_by(answer) == {ACCESS: "", REFRESH: ""}
        assert Session.objects.filter(end_reason="reuse").count() == 1

    def test_a_tab_that_was_too_late_leaves_the_new_cookies_alone(self, ann):
        old = ann.cookie(REFRESH)
        ann.post("refresh")
        new = ann.cookie(REFRESH)
        ann.plant(REFRESH, old)

        answer = ann.post("refresh")

        assert (answer.error, set_by(answer)) == ((401, "INVALID_REFRESH_TOKEN"), {})
        ann.plant(REFRESH, new)
        assert ann.post("refresh").status == 200

    def test_a_forged_refresh_takes_nothing_away(self, ann):
        ann.token = ""

        answer = ann.post("refresh")

        assert (answer.error, set_by(answer)) == ((403, "INVALID_CSRF"), {})


def other_token():
    """A token for another sign-in by cookies."""
    ben = Visitor()
    ben.fetch_token()
    ben.sign_up("ben@example.com")
    return ben.fetch_token()
