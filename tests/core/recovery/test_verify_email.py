"""GET /verify-email: a mailed link verifies an address; without a front end it returns JSON."""

import pytest

from authservice.core.messages import kinds
from authservice.core.models import OneTimeToken
from tests.contract.shapes import is_refusal
from tests.support.flows import ANN, deactivate, email_verified, prove, verify_path

pytestmark = pytest.mark.django_db

BEN = "ben@example.com"
COMBINING = "\N{COMBINING ACUTE ACCENT}"
INVALID = (400, "INVALID_VERIFICATION_TOKEN")
PREFETCH = [
    {"Sec-Purpose": "prefetch"},
    {"Sec-Purpose": "prefetch;prerender"},
    {"Sec-Purpose": "prefetch;anonymous-client-ip"},
    {"Purpose": "prefetch"},
    {"Purpose": "preview"},
    {"X-Purpose": "preview"},
    {"X-Moz": "prefetch"},
    {"X-Moz": "PREFETCH"},
]


@pytest.fixture
def token(ann, flows):
    return flows.email_token()


def test_success_returns_200_with_message_and_status_only(flows, token):
    answer = flows.click(token)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert set(answer.data) == {"message", "status"}
    assert answer.data["status"] == "success"


def test_click_verifies_the_address(api, flows, ann, token):
    flows.click(token)

    assert email_verified(ann["access_token"], api)


def test_click_verifies_nothing_else(api, flows, ann, token):
    flows.click(token)

    assert api.get("me", token=ann["access_token"]).data["phone_number_verified"] is False


def test_click_does_not_log_in(flows, token):
    answer = flows.click(token)

    assert "access_token" not in answer.response.content.decode()
    assert not answer.response.cookies


def test_new_user_gets_one_welcome_email(flows, post, token):
    post.jobs.clear()

    flows.click(token)
    flows.click(token)

    assert [(job.kind, job.target) for job in post.jobs] == [(kinds.WELCOME, ANN)]


def test_second_click_within_the_ttl_succeeds_again(clock, ann, flows):
    token = flows.email_token()
    first = flows.click(token)
    clock.forward(hours=23, minutes=59, seconds=59)

    assert flows.click(token).body == first.body


@pytest.mark.parametrize("clicked", [False, True])
def test_link_is_verification_token_expired_after_a_day(clock, ann, flows, clicked):
    token = flows.email_token()
    if clicked:
        flows.click(token)
    clock.forward(hours=24)

    assert is_refusal(flows.click(token), 400, "VERIFICATION_TOKEN_EXPIRED")


def test_expired_link_verifies_nothing(clock, api, ann, flows):
    token = flows.email_token()
    clock.forward(hours=24)
    flows.click(token)

    assert api.log_in()["user"]["email_verified"] is False


def test_wrong_token_unknown_address_and_other_address_get_the_same_response(api, flows, token):
    api.sign_up(BEN)

    answers = [
        flows.click("A" * 43),
        flows.click(token[:-1]),
        flows.click(token.swapcase()),
        flows.click("", ANN),
        flows.click(token, ""),
        flows.click(token, BEN),
        flows.click(token, "nobody@example.com"),
        flows.click(token, "nobody"),
        flows.click("A" * 600),
        flows.click(token, "a" * 300),
        flows.click(f"{token}\0"),
        flows.click(f"{token}a{31 * COMBINING}"),
        api.get("verify-email"),
        api.get(f"verify-email?token={token}"),
        api.get(f"verify-email?email={ANN}"),
    ]

    assert is_refusal(answers[0], *INVALID)
    assert {answer.response.content for answer in answers} == {answers[0].response.content}


@pytest.mark.parametrize("email", [BEN, "nobody@example.com", ""])
def test_expired_link_with_another_address_is_refused_as_an_unknown_one(
    clock, api, ann, flows, email
):
    token = flows.email_token()
    clock.forward(hours=24)

    answer, unknown = flows.click(token, email), flows.click("A" * 43, email)

    assert answer.status == 400
    assert answer.code != "VERIFICATION_TOKEN_EXPIRED"
    assert answer.response.content == unknown.response.content


def test_refused_click_does_not_use_the_link(flows, token):
    flows.click(token, BEN)

    assert flows.click(token).status == 200


def test_address_is_compared_without_case(flows, token):
    assert flows.click(token, "ANN@Example.COM").status == 200


def test_older_link_is_valid_beside_a_newer_one(flows, token):
    flows.email_token()

    assert flows.click(token).status == 200


def test_link_of_a_user_deactivated_meanwhile_is_invalid(flows, token):
    deactivate()

    assert flows.click(token).error == INVALID


def test_verified_address_gets_no_further_link(api, ann, post):
    prove()
    api.post("send-verification-email", email=ANN)

    assert post.outgoing(kinds.VERIFY_EMAIL) is None


def test_signup_sends_a_link(api, flows, post):
    token = api.sign_up()["access_token"]

    assert flows.click(post.token(kinds.VERIFY_EMAIL)).status == 200
    assert email_verified(token, api)


def test_head_request_verifies_nothing(api, ann, token):
    assert api.request("HEAD", verify_path(token)).status == 200

    assert not email_verified(ann["access_token"], api)


@pytest.mark.parametrize("headers", PREFETCH, ids=str)
def test_prefetch_verifies_nothing(api, flows, ann, token, headers):
    flows.click(token, **headers)

    assert not email_verified(ann["access_token"], api)


@pytest.mark.parametrize("headers", PREFETCH, ids=str)
def test_prefetch_does_not_use_the_link(flows, token, headers):
    flows.click(token, **headers)

    assert not OneTimeToken.objects.exclude(spent_at=None).exists()


@pytest.mark.parametrize("headers", [{}, *PREFETCH[:1]], ids=["HEAD", "prefetch"])
def test_prefetch_of_a_valid_and_an_invalid_link_gets_the_same_response(api, token, headers):
    method = "GET" if headers else "HEAD"
    good, bad = (
        api.request(method, verify_path(text), headers=headers) for text in (token, "A" * 43)
    )

    assert (good.status, good.response.content) == (bad.status, bad.response.content)


def test_responses_are_not_cached(flows, token):
    for text in (token, "A" * 43):
        assert flows.click(text).headers["Cache-Control"] == "no-store, private"
