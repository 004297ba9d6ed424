"""What proves an address, and the confirmation page of a verification link."""

import re
from urllib.parse import urlencode

import pytest
from django.utils import translation

from authservice.core.messages import kinds
from authservice.core.models import OneTimeToken, Session
from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD
from tests.support.flows import ANN, PHONE, account, email_verified, prove
from tests.support.mounted import mounted
from tests.support.pages import assert_protected, is_page

pytestmark = pytest.mark.django_db

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
# The headers of a mail scanner that uses a real browser.
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
def submit(api):
    """Submits the form of the page."""

    def submit(token, decision="confirm", email=ANN, **headers):
        body = urlencode({"token": token, "email": email, "decision": decision})
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return api.request("POST", "verify-email", body, content_type=FORM, headers=headers)

    return submit


def proven():
    return bool(account().proven_email_key)


def verified():
    return bool(account().verified_email_key)


class TestPage:
    def test_browser_that_did_not_sign_up_gets_the_page_and_nothing_changes(self, flows, token):
        for _ in range(2):
            assert is_page(flows.click(token, **SCANNER))

        assert not verified()

    def test_page_has_forms_that_post_the_link(self, flows, token, submit):
        page = flows.click(token, **HTML).response.content.decode()

        assert re.findall(r'<form method="post" action="([^"]+)">', page) == ["/auth/verify-email"]
        assert dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)">', page)) == {
            "token": token,
            "email": ANN,
        }
        assert re.findall(r'name="decision" value="(\w+)"', page) == ["confirm", "deny"]

    def test_page_is_not_cached_not_framed_and_runs_no_script(self, flows, token, configure):
        configure(FRONTEND=FRONTEND)
        assert_protected(flows.click(token, **HTML).headers)

    @pytest.mark.parametrize(
        ("text", "email"),
        [
            ("A" * 43, ANN),
            ("A" * 43, "nobody@example.com"),
            ("", ANN),
            ("\"><script>alert('x')</script>", "<script>@x"),
            ("valid", "other@example.com"),
            ("valid", "<b>ann@example.com</b>"),
        ],
    )
    @pytest.mark.parametrize("front", [{}, FRONTEND])
    def test_invalid_link_is_refused_at_once_and_names_no_address(
        self, flows, token, submit, configure, text, email, front
    ):
        configure(FRONTEND=front)
        text = token if text == "valid" else text
        opened = flows.click(text, email, **SCANNER)
        posted = submit(text, email=email, Sec_Fetch_Site="cross-site", **HTML)

        for answer in (opened, posted):
            if answer is posted and not text:
                assert answer.error == (400, "VALIDATION_ERROR")
            elif front:
                assert answer.headers["Location"] == BAD
            else:
                assert answer.error == INVALID
            assert email not in answer.response.content.decode()
        assert not OneTimeToken.objects.exclude(spent_at=None).exists()

    def test_expired_link_says_so_at_once(self, clock, ann, flows):
        token = flows.email_token()
        clock.forward(hours=25)

        assert flows.click(token, **HTML).error == (400, "VERIFICATION_TOKEN_EXPIRED")
        assert flows.click(token, "other@example.com", **HTML).error == INVALID

    def test_link_of_a_denied_signup_is_refused_at_once(self, flows, token, submit):
        submit(token, "deny")

        assert flows.click(token, **HTML).error == INVALID

    def test_link_that_was_used_shows_the_page_again(self, flows, token, submit):
        submit(token)

        assert is_page(flows.click(token, **HTML))

    def test_page_is_translated_to_german(self, flows, token, settings):
        middleware = ["django.middleware.locale.LocaleMiddleware", *settings.MIDDLEWARE]
        settings.MIDDLEWARE = middleware
        with translation.override("en"):
            answer = flows.click(token, **HTML, **{"Accept-Language": "de"})
        page = answer.response.content.decode()

        assert '<html lang="de"' in page
        assert "Ich habe mich nicht registriert" in page

    def test_link_embedded_in_another_page_gets_the_page(self, flows, token):
        picture = {"Accept": "image/avif,*/*;q=0.8", "Sec-Fetch-Mode": "no-cors"}

        assert is_page(flows.click(token, **picture))
        assert not verified()

    def test_browser_without_confirmation_verifies_the_address_without_proof(
        self, flows, token, configure
    ):
        configure(CORE={"VERIFY_CONFIRM": "off"})

        assert flows.click(token, **SCANNER).status == 200
        assert (verified(), proven()) == (True, False)


class TestProof:
    def test_browser_that_signed_up_proves_the_address_at_once(self, api, post, flows):
        answer = api.post("signup", email=ANN, password=PASSWORD)
        cookie = answer.response.cookies["authservice_signup"]
        token = post.token(kinds.VERIFY_EMAIL)

        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
        headers = {**HTML, "Cookie": f"authservice_signup={cookie.value}"}
        assert flows.click(token, **headers).data["status"] == "success"
        assert (verified(), proven()) == (True, True)

    def test_browser_with_the_cookie_of_another_address_gets_the_page(self, api, flows, token):
        other = api.post("signup", email="eve@example.com", password=PASSWORD).response
        value = other.cookies["authservice_signup"].value

        assert is_page(flows.click(token, **HTML, Cookie=f"authservice_signup={value}"))

    @pytest.mark.parametrize("value", ["", "x", "0" * 64, "\xe4"])
    def test_browser_with_a_forged_cookie_gets_the_page(self, flows, token, value):
        assert is_page(flows.click(token, **HTML, Cookie=f"authservice_signup={value}"))

    def test_client_that_accepts_json_proves_the_address(self, flows, token):
        flows.click(token, **JSON)

        assert (verified(), proven()) == (True, True)

    @pytest.mark.parametrize("headers", [{}, {"Accept": "*/*"}], ids=str)
    def test_other_client_verifies_the_address_without_proof(self, flows, token, headers):
        assert flows.click(token, **headers).status == 200

        assert (verified(), proven()) == (True, False)

    def test_later_proof_by_the_same_link_counts(self, flows, token, submit):
        flows.click(token)

        assert submit(token).status == 200
        assert (verified(), proven()) == (True, True)

    def test_later_click_without_proof_keeps_the_earlier_proof(self, flows, token):
        flows.click(token, **JSON)

        assert flows.click(token).status == 200
        assert proven()


class TestConfirm:
    def test_form_proves_the_address(self, api, ann, token, submit):
        answer = submit(token, **HTML)

        assert (answer.status, answer.data["status"]) == (200, "success")
        assert email_verified(ann["access_token"], api)
        assert proven()

    def test_json_proves_the_address_too(self, api, token):
        answer = api.request("POST", "verify-email", {"token": token, "email": ANN})

        assert answer.data["status"] == "success"
        assert proven()

    def test_confirmation_redirects_to_the_front_end(self, token, submit, configure):
        configure(FRONTEND=FRONTEND)

        answers = [submit(token), submit(token), submit("A" * 43)]

        redirects = [(answer.status, answer.headers["Location"]) for answer in answers]
        assert redirects == [(303, GOOD), (303, GOOD), (303, BAD)]

    @pytest.mark.parametrize("confirm", ["auto", "off"])
    @pytest.mark.parametrize("decision", ["confirm", "deny"])
    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_form_of_another_site_changes_nothing(
        self, api, ann, token, submit, configure, confirm, decision, site
    ):
        configure(CORE={"VERIFY_CONFIRM": confirm})

        assert is_page(submit(token, decision, Sec_Fetch_Site=site))

        assert not verified()
        assert api.get("me", token=ann["access_token"]).status == 200

    def test_invalid_link_is_refused(self, token, submit):
        assert is_refusal(submit("A" * 43), *INVALID)
        assert is_refusal(submit(token, email="ben@example.com"), *INVALID)

    def test_expired_link_is_refused_as_expired(self, clock, ann, flows, submit):
        token = flows.email_token()
        clock.forward(hours=24)

        for decision in ("confirm", "deny"):
            assert is_refusal(submit(token, decision), 400, "VERIFICATION_TOKEN_EXPIRED")

    def test_unknown_decision_is_a_validation_error(self, token, submit):
        assert is_refusal(submit(token, "perhaps"), 400, "VALIDATION_ERROR")


class TestDeny:
    def test_denial_removes_all_access_and_leaves_the_address_unverified(
        self, api, ann, flows, token, submit, post
    ):
        flows.click(token)  # a scanner opened the link first

        answer = submit(token, "deny", **HTML)

        assert (answer.status, answer.data["status"]) == (200, "denied")
        assert (verified(), proven()) == (False, False)
        assert not account().user.has_usable_password()
        assert account().phone_number == ""
        assert api.get("me", token=ann["access_token"]).status == 401
        assert api.post("login", email=ANN, password=PASSWORD).status == 401
        assert kinds.ACCESS_WIPED in [job.kind for job in post.jobs]

    def test_denied_link_is_invalid_afterwards(self, flows, token, submit):
        submit(token, "deny")

        assert is_refusal(submit(token), *INVALID)
        assert is_refusal(flows.click(token, **JSON), *INVALID)

    def test_denial_redirects_to_the_front_end(self, token, submit, configure):
        configure(FRONTEND=FRONTEND)

        answer = submit(token, "deny")

        assert (answer.status, answer.headers["Location"]) == (303, BAD)

    def test_denial_of_a_proven_address_is_refused(self, api, ann, token, submit):
        prove(phone=PHONE)

        assert is_refusal(submit(token, "deny"), *INVALID)
        assert api.get("me", token=ann["access_token"]).status == 200


@pytest.fixture
def _magic_links():
    with mounted("authservice.magiclink", "tests.support.messenger.apps.PostOffice"):
        yield


@pytest.mark.usefixtures("_magic_links")
@pytest.mark.parametrize("headers", [SCANNER, {"Accept": "*/*"}], ids=["browser", "program"])
class TestPreHijacking:
    """An attacker signs up with the address of a victim; a mail scanner opens the link."""

    def test_scanner_keeps_no_access_for_the_attacker(self, api, flows, post, headers):
        attacker = api.sign_up(phone_number=PHONE)
        flows.click(post.token(kinds.VERIFY_EMAIL), **headers)

        api.post("magic-link/send", email=ANN)
        owner = post.token("magic-link")
        tokens = api.get(f"magic-link/verify?token={owner}").data

        assert api.get("me", token=tokens["access_token"]).data["email_verified"] is True
        assert api.get("me", token=attacker["access_token"]).status == 401
        assert api.post("login", email=ANN, password=PASSWORD).status == 401
        assert account().phone_number == ""
        assert Session.objects.filter(ended_at=None).count() == 1

    def test_scanner_with_a_browser_does_not_pass_the_required_verification(
        self, api, flows, post, configure, headers
    ):
        configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
        api.post("signup", email=ANN, password=PASSWORD)
        flows.click(post.token(kinds.VERIFY_EMAIL), **headers)

        answer = api.post("login", email=ANN, password=PASSWORD)

        if headers is SCANNER:
            assert is_refusal(answer, 403, "EMAIL_NOT_VERIFIED")
        else:  # verified, but the first proof still revokes all access: see above
            assert answer.status == 200
