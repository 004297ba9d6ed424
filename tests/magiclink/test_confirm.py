"""Nothing that looks at a link before its reader does uses it up, or gets to see a token."""

import re

import pytest
from django.utils import translation

from authservice.kernel.modules import plugged
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import ANN, FRONT, HTML, pair_of
from tests.recovery.statements import statements

pytestmark = pytest.mark.django_db

AHEAD = [
    {"Sec-Purpose": "prefetch"},
    {"Sec-Purpose": "prefetch;prerender"},
    {"Purpose": "prefetch"},
    {"X-Purpose": "preview"},
    {"X-Moz": "prefetch"},
]


@pytest.fixture
def auto(magiclink):
    magiclink(CONFIRM="auto")


def is_page(answer):
    return answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("confirm", ["off", "auto"])
@pytest.mark.parametrize("headers", AHEAD, ids=str)
def test_a_look_ahead_spends_nothing(magic, ann, magiclink, confirm, headers):
    magiclink(CONFIRM=confirm)
    pair = magic.mailed()

    answer = magic.follow(pair.token, **{**HTML, **headers})

    assert (answer.status, answer.body) == (200, {"data": None})
    assert magic.follow(pair.token).status == 200


@pytest.mark.parametrize("confirm", ["off", "auto"])
def test_a_head_spends_nothing(magic, ann, magiclink, confirm):
    magiclink(CONFIRM=confirm)
    pair = magic.mailed()

    assert magic.follow(pair.token, method="HEAD", **HTML).status == 200
    assert magic.follow(pair.token).status == 200


def test_confirmation_is_the_default(magic, ann):
    assert is_page(magic.follow(magic.mailed().token, **HTML))


def test_where_it_is_off_a_browser_goes_straight_through(magic, ann, magiclink):
    magiclink(CONFIRM="off")

    assert "access_token" in magic.follow(magic.mailed().token, **HTML).data


@pytest.mark.usefixtures("auto", "ann")
class TestAuto:
    def test_a_browser_that_did_not_ask_gets_a_page_and_no_token(self, magic):
        pair = magic.mailed()

        for _ in range(2):
            answer = magic.follow(pair.token, **HTML)
            assert is_page(answer)
            assert answer.response.cookies == {}
            assert b"access" not in answer.response.content

        assert magic.follow(pair.token).status == 200

    def test_its_button_posts_the_token_to_where_it_came_from(self, magic):
        pair = magic.mailed()
        page = magic.follow(pair.token, **HTML).response.content.decode()

        [action] = re.findall(r'<form method="post" action="([^"]+)">', page)
        [value] = re.findall(r'<input type="hidden" name="token" value="([^"]+)">', page)
        assert (action, value) == ("/auth/magic-link/verify", pair.token)

        assert "access_token" in magic.push(value, **HTML).data

    def test_the_page_costs_no_query(self, magic):
        pair = magic.mailed()

        assert statements(lambda: magic.follow(pair.token, **HTML)) == []

    def test_the_page_is_the_same_for_what_is_no_link(self, magic):
        pair = magic.mailed()
        pages = [
            magic.follow(token, **HTML).response.content.decode().replace(token, "")
            for token in (pair.token, "A" * 43)
        ]

        assert pages[0] == pages[1]

    def test_what_is_in_the_address_does_not_become_html(self, magic):
        evil = "\"><script>alert('x')</script>"

        answer = magic.follow(evil, **HTML)

        assert is_page(answer)
        assert b"<script" not in answer.response.content

    def test_the_page_is_not_kept_not_framed_and_tells_nobody(self, magic, magiclink):
        magiclink(CONFIRM="auto", CALLBACK_URL=FRONT)
        headers = magic.follow("x", **HTML).headers

        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "strict-origin"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "form-action 'self' https://app.example.com;" in policy
        assert "script" not in policy
        assert "unsafe" not in policy

    def test_the_browser_that_asked_goes_straight_through(self, magic):
        pair, cookie = magic.mailed(), asked(magic)

        assert "access_token" in magic.follow(last_token(magic), **HTML, Cookie=cookie).data
        assert is_refusal(magic.follow(pair.token), 400, "INVALID_TOKEN")

    def test_but_not_with_a_link_to_another_address(self, magic, api):
        api.sign_up("eve@example.com")
        cookie = asked(magic)
        eve = magic.mailed("eve@example.com")

        assert is_page(magic.follow(eve.token, **HTML, Cookie=cookie))

    @pytest.mark.parametrize("value", ["", "x", "0" * 64, "\xe4"])
    def test_nor_with_a_cookie_of_its_own_making(self, magic, value):
        pair = magic.mailed()
        cookie = f"authservice_magiclink={value}"

        assert is_page(magic.follow(pair.token, **HTML, Cookie=cookie))

    def test_an_expired_link_says_so_after_the_button(self, magic, clock):
        cookie = asked(magic)
        token = last_token(magic)
        clock.forward(minutes=15)

        assert is_page(magic.follow(token, **HTML, Cookie=cookie))
        assert is_refusal(magic.push(token, **HTML), 400, "TOKEN_EXPIRED")

    @pytest.mark.parametrize("accept", ["application/json", "*/*", ""])
    def test_a_program_goes_straight_through(self, magic, accept):
        assert "access_token" in magic.follow(magic.mailed().token, Accept=accept).data

    def test_the_page_speaks_the_language_of_the_request(self, magic, settings):
        settings.MIDDLEWARE = [
            "django.middleware.locale.LocaleMiddleware",
            *settings.MIDDLEWARE,
        ]
        headers = {**HTML, "Accept-Language": "de"}
        with translation.override("en"):  # or the thread would go on in German
            page = magic.follow("x", **headers).response.content.decode()

        assert '<html lang="de"' in page
        assert "Anmelden" in page

    def test_a_host_may_have_a_page_of_its_own(self, magic, settings, tmp_path):
        place = tmp_path / "authservice/magiclink/confirm.html"
        place.parent.mkdir(parents=True)
        place.write_text("ours: {{ token }} {{ action }}")
        settings.TEMPLATES = [
            {"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [tmp_path]}
        ]

        page = magic.follow("<b>", **HTML).response.content

        assert page == b"ours: &lt;b&gt; /auth/magic-link/verify"


class TestForm:
    def test_json_does_as_well(self, api, magic, ann):
        body = {"token": magic.mailed().token}

        assert "access_token" in api.request("POST", "magic-link/verify", body).data

    @pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "text/plain", ""])
    def test_nothing_else_does(self, api, ann, kind):
        answer = api.request("POST", "magic-link/verify", b"token=x", content_type=kind)

        assert is_refusal(answer, 415, "UNSUPPORTED_MEDIA_TYPE")

    @pytest.mark.parametrize("path", ["send", "resend", "verify-code"])
    def test_no_other_route_takes_a_form(self, api, ann, path):
        kind = "application/x-www-form-urlencoded"
        body = f"email={ANN}&code=123456"

        answer = api.request("POST", f"magic-link/{path}", body, content_type=kind)

        assert is_refusal(answer, 415, "UNSUPPORTED_MEDIA_TYPE")

    @pytest.mark.parametrize(
        "body", [b"", b"token=", b"x=1", b"token=%00", b"token=a%0ab", b"=&&&", b"token"]
    )
    def test_a_form_without_a_token_is_refused(self, api, body):
        kind = "application/x-www-form-urlencoded"

        answer = api.request("POST", "magic-link/verify", body, content_type=kind)

        assert is_refusal(answer, 400, "VALIDATION_ERROR")

    @pytest.mark.parametrize("body", [b"token=%ff%fe", b"\xff\xfe=x&token=y", b"token=a&token=b"])
    def test_strange_octets_in_a_form_are_no_link(self, api, body):
        kind = "application/x-www-form-urlencoded"

        answer = api.request("POST", "magic-link/verify", body, content_type=kind)

        assert is_refusal(answer, 400, "INVALID_TOKEN")

    def test_a_form_of_a_thousand_and_one_fields_is_refused(self, api):
        body = "&".join(f"x{n}=" for n in range(1001))
        kind = "application/x-www-form-urlencoded"

        answer = api.request("POST", "magic-link/verify", body, content_type=kind)

        assert is_refusal(answer, 400, "VALIDATION_ERROR")

    def test_a_form_that_is_too_large_is_refused(self, api):
        kind = "application/x-www-form-urlencoded"

        answer = api.request("POST", "magic-link/verify", "x" * 65537, content_type=kind)

        assert is_refusal(answer, 413, "REQUEST_TOO_LARGE")

    def test_it_needs_no_csrf_token_where_all_else_does(self, magic, ann):
        def guard(request, session_id):
            raise AssertionError

        pair = magic.mailed()
        with plugged("request_guard", guard):
            assert magic.push(pair.token).status == 200


def asked(magic):
    """The cookie of a browser that asks for a link for Ann."""
    cookies = magic.ask().response.cookies
    assert cookies["authservice_magiclink"]["httponly"]
    assert cookies["authservice_magiclink"]["samesite"] == "Lax"
    assert cookies["authservice_magiclink"]["max-age"] == 900
    return f"authservice_magiclink={cookies['authservice_magiclink'].value}"


def last_token(magic):
    return pair_of(magic.letter()).token
