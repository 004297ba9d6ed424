"""A client that opens a link before its user does neither uses it up nor gets a token."""

import re

import pytest
from django.utils import translation

from authservice import signals
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.modules import plugged
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import ANN, FRONT, HTML, pair_of, redirect_of
from tests.support.pages import assert_protected, is_page
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

PREFETCH = [
    {"Sec-Purpose": "prefetch"},
    {"Sec-Purpose": "prefetch;prerender"},
    {"Purpose": "prefetch"},
    {"X-Purpose": "preview"},
    {"X-Moz": "prefetch"},
]


@pytest.fixture
def auto(magiclink):
    magiclink(CONFIRM="auto")


@pytest.mark.parametrize("confirm", ["off", "auto"])
@pytest.mark.parametrize("headers", PREFETCH, ids=str)
def test_prefetch_does_not_use_the_link(magic, ann, magiclink, confirm, headers):
    magiclink(CONFIRM=confirm)
    pair = magic.mailed()

    answer = magic.follow(pair.token, **{**HTML, **headers})

    assert (answer.status, answer.response.content) == (503, b"")
    assert magic.follow(pair.token).status == 200


@pytest.mark.parametrize("confirm", ["off", "auto"])
def test_head_request_does_not_use_the_link(magic, ann, magiclink, confirm):
    magiclink(CONFIRM=confirm)
    pair = magic.mailed()

    assert magic.follow(pair.token, method="HEAD", **HTML).status == 200
    assert magic.follow(pair.token).status == 200


def test_confirmation_is_the_default(magic, ann):
    assert is_page(magic.follow(magic.mailed().token, **HTML))


def test_browser_without_confirmation_logs_in_at_once(magic, ann, magiclink):
    magiclink(CONFIRM="off")

    assert "access_token" in magic.follow(magic.mailed().token, **HTML).data


@pytest.mark.usefixtures("auto", "ann")
class TestAuto:
    def test_browser_that_did_not_request_the_link_gets_a_page_and_no_token(self, magic):
        pair = magic.mailed()

        for _ in range(2):
            answer = magic.follow(pair.token, **HTML)
            assert is_page(answer)
            assert answer.response.cookies == {}
            assert b"access" not in answer.response.content

        assert magic.follow(pair.token).status == 200

    def test_form_of_the_page_posts_the_token_to_the_same_url(self, magic):
        pair = magic.mailed()
        page = magic.follow(pair.token, **HTML).response.content.decode()

        [action] = re.findall(r'<form method="post" action="([^"]+)">', page)
        [value] = re.findall(r'<input type="hidden" name="token" value="([^"]+)">', page)
        assert (action, value) == ("/auth/magic-link/verify", pair.token)

        assert "access_token" in magic.submit(value, **HTML).data

    def test_page_reads_the_link_and_its_user_and_writes_nothing(self, magic):
        pair = magic.mailed()

        found = statements(lambda: magic.follow(pair.token, **HTML))

        assert [sql.partition(" ")[0] for sql in found] == ["SELECT", "SELECT"]

    def test_unknown_link_is_refused_without_a_page_and_costs_one_query(self, magic):
        answers = []

        assert len(statements(lambda: answers.append(magic.follow("A" * 43, **HTML)))) == 1
        assert is_refusal(answers[0], 400, "INVALID_TOKEN")

    def test_used_link_is_refused_without_a_page_and_opening_it_is_no_attempt(
        self, magic, received
    ):
        pair = magic.mailed()
        magic.submit(pair.token)
        failures = received(signals.login_failed)

        assert is_refusal(magic.follow(pair.token, **HTML), 400, "INVALID_TOKEN")
        assert failures == []
        magic.submit(pair.token)
        assert len(failures) == 1

    def test_refused_link_leads_to_the_front_end(self, magic, magiclink):
        magiclink(CONFIRM="auto", CALLBACK_URL=FRONT)

        target, fragment = redirect_of(magic.follow("A" * 43, **HTML))

        assert (target, fragment["error"]) == (FRONT, "INVALID_TOKEN")

    def test_page_is_not_cached_not_framed_and_sends_no_referrer(self, magic, magiclink):
        magiclink(CONFIRM="auto", CALLBACK_URL=FRONT)
        assert_protected(magic.follow(magic.mailed().token, **HTML).headers)

    def test_browser_that_requested_the_link_logs_in_at_once(self, magic):
        pair, cookie = magic.mailed(), binding_cookie(magic)

        assert "access_token" in magic.follow(last_token(magic), **HTML, Cookie=cookie).data
        assert is_refusal(magic.follow(pair.token), 400, "INVALID_TOKEN")

    def test_browser_that_requested_another_link_gets_the_page(self, magic, api):
        api.sign_up("eve@example.com")
        cookie = binding_cookie(magic)
        eve = magic.mailed("eve@example.com")

        assert is_page(magic.follow(eve.token, **HTML, Cookie=cookie))

    @pytest.mark.parametrize("value", ["", "x", "0" * 64, "\xe4"])
    def test_browser_with_a_forged_cookie_gets_the_page(self, magic, value):
        pair = magic.mailed()
        cookie = f"authservice_magiclink={value}"

        assert is_page(magic.follow(pair.token, **HTML, Cookie=cookie))

    def test_expired_link_is_refused_before_and_after_the_form_is_submitted(self, magic, clock):
        cookie = binding_cookie(magic)
        token = last_token(magic)
        clock.forward(minutes=15)

        assert is_refusal(magic.follow(token, **HTML, Cookie=cookie), 400, "TOKEN_EXPIRED")
        assert is_refusal(magic.submit(token, **HTML), 400, "TOKEN_EXPIRED")

    @pytest.mark.parametrize("accept", ["application/json", "*/*", ""])
    def test_client_that_accepts_no_html_logs_in_at_once(self, magic, accept):
        assert "access_token" in magic.follow(magic.mailed().token, Accept=accept).data

    def test_page_is_in_the_language_of_the_request(self, magic, settings):
        settings.MIDDLEWARE = [
            "django.middleware.locale.LocaleMiddleware",
            *settings.MIDDLEWARE,
        ]
        headers, token = {**HTML, "Accept-Language": "de"}, magic.mailed().token
        with translation.override("en"):  # otherwise the thread would continue in German
            page = magic.follow(token, **headers).response.content.decode()

        assert '<html lang="de"' in page
        assert "Anmelden" in page

    def test_host_can_replace_the_template_of_the_page(self, magic, settings, tmp_path):
        place = tmp_path / "authservice/magiclink/confirm.html"
        place.parent.mkdir(parents=True)
        place.write_text("ours: {{ token.reveal }} {{ action }}")
        token = magic.mailed().token
        settings.TEMPLATES = [
            {"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [tmp_path]}
        ]

        page = magic.follow(token, **HTML).response.content.decode()

        assert page == f"ours: {token} /auth/magic-link/verify"


class TestForm:
    def test_form_route_accepts_json(self, api, magic, ann):
        body = {"token": magic.mailed().token}

        assert "access_token" in api.request("POST", "magic-link/verify", body).data

    @pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "text/plain", ""])
    def test_form_route_refuses_other_content_types(self, api, ann, kind):
        answer = api.request("POST", "magic-link/verify", b"token=x", content_type=kind)

        assert is_refusal(answer, 415, "UNSUPPORTED_MEDIA_TYPE")

    @pytest.mark.parametrize("path", ["send", "resend", "verify-code"])
    def test_other_routes_refuse_forms(self, api, ann, path):
        kind = "application/x-www-form-urlencoded"
        body = f"email={ANN}&code=123456"

        answer = api.request("POST", f"magic-link/{path}", body, content_type=kind)

        assert is_refusal(answer, 415, "UNSUPPORTED_MEDIA_TYPE")

    @pytest.mark.parametrize(
        "body", [b"", b"token=", b"x=1", b"token=%00", b"token=a%0ab", b"=&&&", b"token"]
    )
    def test_form_without_a_token_is_refused(self, api, body):
        kind = "application/x-www-form-urlencoded"

        answer = api.request("POST", "magic-link/verify", body, content_type=kind)

        assert is_refusal(answer, 400, "VALIDATION_ERROR")

    @pytest.mark.parametrize("body", [b"token=%ff%fe", b"\xff\xfe=x&token=y", b"token=a&token=b"])
    def test_form_with_unusual_bytes_is_an_invalid_link(self, api, body):
        kind = "application/x-www-form-urlencoded"

        answer = api.request("POST", "magic-link/verify", body, content_type=kind)

        assert is_refusal(answer, 400, "INVALID_TOKEN")

    def test_form_with_more_than_a_thousand_fields_is_refused(self, api):
        body = "&".join(f"x{n}=" for n in range(1001))
        kind = "application/x-www-form-urlencoded"

        answer = api.request("POST", "magic-link/verify", body, content_type=kind)

        assert is_refusal(answer, 400, "VALIDATION_ERROR")

    def test_form_that_is_too_large_is_refused(self, api):
        kind = "application/x-www-form-urlencoded"

        answer = api.request("POST", "magic-link/verify", "x" * 65537, content_type=kind)

        assert is_refusal(answer, 413, "REQUEST_TOO_LARGE")

    def test_form_needs_no_csrf_token(self, magic, ann):
        class Guard(RequestGuard):
            def check(self, request, session_id, *, bearer):
                raise AssertionError

        pair = magic.mailed()
        with plugged("request_guard", Guard()):
            assert magic.submit(pair.token).status == 200


def binding_cookie(magic):
    """The cookie of a browser that requests a link for Ann."""
    cookies = magic.ask().response.cookies
    assert cookies["authservice_magiclink"]["httponly"]
    assert cookies["authservice_magiclink"]["samesite"] == "Lax"
    assert cookies["authservice_magiclink"]["max-age"] == 900
    return f"authservice_magiclink={cookies['authservice_magiclink'].value}"


def last_token(magic):
    return pair_of(magic.message()).token
