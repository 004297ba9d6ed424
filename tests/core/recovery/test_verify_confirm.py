"""What counts as a proof of an address, and the page between a verification link and its effect."""

import re
from urllib.parse import urlencode

import pytest
from django.utils import translation

from authservice.core.models import Session
from authservice.kernel import message_queue
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.mounted import mounted
from tests.recovery.flows import ANN, PHONE, account, email_verified, prove

pytestmark = pytest.mark.django_db

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
# As a mail scanner with a real browser sends.
SCANNER = {**HTML, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
JSON = {"Accept": "application/json"}
FORM = "application/x-www-form-urlencoded"
FRONTEND = {"URL": "https://app.example.com", "VERIFY_EMAIL_CALLBACK_PATH": "/verified"}
GOOD = "https://app.example.com/verified?status=success"
BAD = "https://app.example.com/verified?status=error"
INVALID = (400, "INVALID_VERIFICATION_TOKEN")


@pytest.fixture
def token(ann, flows):
    return flows.email_token()


@pytest.fixture
def push(api):
    """A button of the page."""

    def push(token, decision="confirm", email=ANN, **headers):
        body = urlencode({"token": token, "email": email, "decision": decision})
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return api.request("POST", "verify-email", body, content_type=FORM, headers=headers)

    return push


def is_page(answer):
    return answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")


def proven():
    return bool(account().proven_email_key)


def verified():
    return bool(account().verified_email_key)


class TestPage:
    def test_a_browser_that_did_not_sign_up_gets_it_and_nothing_changes(self, flows, token):
        for _ in range(2):
            assert is_page(flows.click(token, **SCANNER))

        assert not verified()

    def test_its_buttons_post_the_link(self, flows, token, push):
        page = flows.click(token, **HTML).response.content.decode()

        assert re.findall(r'<form method="post" action="([^"]+)">', page) == ["/auth/verify-email"]
        assert dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)">', page)) == {
            "token": token,
            "email": ANN,
        }
        assert re.findall(r'name="decision" value="(\w+)"', page) == ["confirm", "deny"]

    def test_it_is_not_kept_not_framed_and_runs_no_script(self, flows, configure):
        configure(FRONTEND=FRONTEND)
        headers = flows.click("x", **HTML).headers

        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "strict-origin"
        assert headers["X-Robots-Tag"] == "noindex"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "form-action 'self' https://app.example.com;" in policy
        assert "script" not in policy
        assert "unsafe" not in policy

    def test_what_is_in_the_address_does_not_become_html(self, flows):
        page = flows.click("\"><script>alert('x')</script>", "<script>@x", **HTML)

        assert is_page(page)
        assert b"<script" not in page.response.content

    def test_it_speaks_german(self, flows, settings):
        middleware = ["django.middleware.locale.LocaleMiddleware", *settings.MIDDLEWARE]
        settings.MIDDLEWARE = middleware
        with translation.override("en"):
            page = flows.click("x", **HTML, **{"Accept-Language": "de"}).response.content.decode()

        assert '<html lang="de"' in page
        assert "Ich habe mich nicht registriert" in page

    def test_a_link_that_a_page_embeds_gets_it(self, flows, token):
        picture = {"Accept": "image/avif,*/*;q=0.8", "Sec-Fetch-Mode": "no-cors"}

        assert is_page(flows.click(token, **picture))
        assert not verified()

    def test_without_confirmation_a_browser_goes_straight_through_but_proves_nothing(
        self, flows, token, configure
    ):
        configure(CORE={"VERIFY_CONFIRM": "off"})

        assert flows.click(token, **SCANNER).status == 200
        assert (verified(), proven()) == (True, False)


class TestProof:
    def test_the_browser_that_signed_up_goes_straight_through(self, api, post, flows):
        answer = api.post("signup", email=ANN, password=PASSWORD)
        cookie = answer.response.cookies["authservice_signup"]
        token = post.token(message_queue.VERIFY_EMAIL)

        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
        headers = {**HTML, "Cookie": f"authservice_signup={cookie.value}"}
        assert flows.click(token, **headers).data["status"] == "success"
        assert (verified(), proven()) == (True, True)

    def test_the_cookie_of_another_address_is_worth_nothing(self, api, flows, token):
        other = api.post("signup", email="eve@example.com", password=PASSWORD).response
        value = other.cookies["authservice_signup"].value

        assert is_page(flows.click(token, **HTML, Cookie=f"authservice_signup={value}"))

    @pytest.mark.parametrize("value", ["", "x", "0" * 64, "\xe4"])
    def test_nor_is_one_that_somebody_made_up(self, flows, token, value):
        assert is_page(flows.click(token, **HTML, Cookie=f"authservice_signup={value}"))

    def test_a_client_that_asks_for_json_proves_it(self, flows, token):
        flows.click(token, **JSON)

        assert (verified(), proven()) == (True, True)

    @pytest.mark.parametrize("headers", [{}, {"Accept": "*/*"}], ids=str)
    def test_any_other_client_verifies_it_without_proof(self, flows, token, headers):
        assert flows.click(token, **headers).status == 200

        assert (verified(), proven()) == (True, False)

    def test_a_later_proof_by_the_same_link_counts(self, flows, token, push):
        flows.click(token)

        assert push(token).status == 200
        assert (verified(), proven()) == (True, True)

    def test_a_later_click_that_proves_nothing_takes_no_proof_away(self, flows, token):
        flows.click(token, **JSON)

        assert flows.click(token).status == 200
        assert proven()


class TestConfirm:
    def test_the_button_proves_the_address(self, api, ann, token, push):
        answer = push(token, **HTML)

        assert (answer.status, answer.data["status"]) == (200, "success")
        assert email_verified(ann["access_token"], api)
        assert proven()

    def test_json_does_as_well(self, api, token):
        answer = api.request("POST", "verify-email", {"token": token, "email": ANN})

        assert answer.data["status"] == "success"
        assert proven()

    def test_it_leads_on_to_the_front_end(self, token, push, configure):
        configure(FRONTEND=FRONTEND)

        answers = [push(token), push(token), push("A" * 43)]

        led = [(answer.status, answer.headers["Location"]) for answer in answers]
        assert led == [(303, GOOD), (303, GOOD), (303, BAD)]

    @pytest.mark.parametrize("confirm", ["auto", "off"])
    @pytest.mark.parametrize("decision", ["confirm", "deny"])
    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_a_form_of_another_site_changes_nothing(
        self, api, ann, token, push, configure, confirm, decision, site
    ):
        configure(CORE={"VERIFY_CONFIRM": confirm})

        assert is_page(push(token, decision, Sec_Fetch_Site=site))

        assert not verified()
        assert api.get("me", token=ann["access_token"]).status == 200

    def test_a_bad_link_is_refused(self, token, push):
        assert is_refusal(push("A" * 43), *INVALID)
        assert is_refusal(push(token, email="ben@example.com"), *INVALID)

    def test_an_expired_link_says_so(self, clock, ann, flows, push):
        token = flows.email_token()
        clock.forward(hours=24)

        for decision in ("confirm", "deny"):
            assert is_refusal(push(token, decision), 400, "VERIFICATION_TOKEN_EXPIRED")

    def test_another_decision_is_a_validation_error(self, token, push):
        assert is_refusal(push(token, "perhaps"), 400, "VALIDATION_ERROR")


class TestDeny:
    def test_it_removes_everything_and_the_address_stays_unverified(
        self, api, ann, flows, token, push, post
    ):
        flows.click(token)  # a scanner was there first

        answer = push(token, "deny", **HTML)

        assert (answer.status, answer.data["status"]) == (200, "denied")
        assert (verified(), proven()) == (False, False)
        assert not account().user.has_usable_password()
        assert account().phone_number == ""
        assert api.get("me", token=ann["access_token"]).status == 401
        assert api.post("login", email=ANN, password=PASSWORD).status == 401
        assert message_queue.ACCESS_WIPED in [job.kind for job in post.jobs]

    def test_the_link_is_of_no_use_afterwards(self, flows, token, push):
        push(token, "deny")

        assert is_refusal(push(token), *INVALID)
        assert is_refusal(flows.click(token, **JSON), *INVALID)

    def test_it_leads_on_to_the_front_end(self, token, push, configure):
        configure(FRONTEND=FRONTEND)

        answer = push(token, "deny")

        assert (answer.status, answer.headers["Location"]) == (303, BAD)

    def test_nobody_denies_an_account_that_is_proven(self, api, ann, token, push):
        prove(phone=PHONE)

        assert is_refusal(push(token, "deny"), *INVALID)
        assert api.get("me", token=ann["access_token"]).status == 200


@pytest.fixture
def _magic_links():
    with mounted("authservice.magiclink", "tests.recovery.apps.PostOffice"):
        yield


@pytest.mark.usefixtures("_magic_links")
@pytest.mark.parametrize("headers", [SCANNER, {"Accept": "*/*"}], ids=["browser", "program"])
class TestPreHijacking:
    """An attacker signs up with an address that is not theirs; a scanner opens the link."""

    def test_a_scanner_keeps_no_access_for_the_attacker(self, api, flows, post, headers):
        attacker = api.sign_up(phone_number=PHONE)
        flows.click(post.token(message_queue.VERIFY_EMAIL), **headers)

        api.post("magic-link/send", email=ANN)
        owner = post.token("magic-link")
        tokens = api.get(f"magic-link/verify?token={owner}").data

        assert api.get("me", token=tokens["access_token"]).data["email_verified"] is True
        assert api.get("me", token=attacker["access_token"]).status == 401
        assert api.post("login", email=ANN, password=PASSWORD).status == 401
        assert account().phone_number == ""
        assert Session.objects.filter(ended_at=None).count() == 1

    def test_a_scanner_as_a_browser_does_not_pass_the_required_verification(
        self, api, flows, post, configure, headers
    ):
        configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
        api.post("signup", email=ANN, password=PASSWORD)
        flows.click(post.token(message_queue.VERIFY_EMAIL), **headers)

        answer = api.post("login", email=ANN, password=PASSWORD)

        if headers is SCANNER:
            assert is_refusal(answer, 403, "EMAIL_NOT_VERIFIED")
        else:  # verified, but the first proof still revokes all access: see above
            assert answer.status == 200
