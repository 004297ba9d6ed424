"""GET /verify-email: a mailed link proves an address, without a front end in JSON."""

import pytest

from authservice.core.models import OneTimeToken
from authservice.kernel import message_queue
from tests.contract.shapes import is_refusal
from tests.recovery.flows import ANN, deactivate, email_verified, prove, verify_path

pytestmark = pytest.mark.django_db

BEN = "ben@example.com"
INVALID = (400, "INVALID_VERIFICATION_TOKEN")
AHEAD = [
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


def test_a_success_is_200_with_exactly_message_and_status(flows, token):
    answer = flows.click(token)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert set(answer.data) == {"message", "status"}
    assert answer.data["status"] == "success"


def test_the_address_is_verified(api, flows, ann, token):
    flows.click(token)

    assert email_verified(ann["access_token"], api)


def test_nothing_else_is_verified(api, flows, ann, token):
    flows.click(token)

    assert api.get("me", token=ann["access_token"]).data["phone_number_verified"] is False


def test_a_click_is_no_sign_in(flows, token):
    answer = flows.click(token)

    assert "access_token" not in answer.response.content.decode()
    assert not answer.response.cookies


def test_the_newcomer_is_welcomed_once(flows, post, token):
    post.jobs.clear()

    flows.click(token)
    flows.click(token)

    assert [(job.kind, job.target) for job in post.jobs] == [(message_queue.WELCOME, ANN)]


def test_a_second_click_within_its_life_succeeds_again(clock, ann, flows):
    token = flows.email_token()
    first = flows.click(token)
    clock.forward(hours=23, minutes=59, seconds=59)

    assert flows.click(token).body == first.body


@pytest.mark.parametrize("clicked", [False, True])
def test_after_a_day_it_is_verification_token_expired(clock, ann, flows, clicked):
    token = flows.email_token()
    if clicked:
        flows.click(token)
    clock.forward(hours=24)

    assert is_refusal(flows.click(token), 400, "VERIFICATION_TOKEN_EXPIRED")


def test_an_expired_link_verifies_nothing(clock, api, ann, flows):
    token = flows.email_token()
    clock.forward(hours=24)
    flows.click(token)

    assert api.log_in()["user"]["email_verified"] is False


def test_wrong_unknown_and_other_address_answer_alike(api, flows, token):
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
        api.get("verify-email"),
        api.get(f"verify-email?token={token}"),
        api.get(f"verify-email?email={ANN}"),
    ]

    assert is_refusal(answers[0], *INVALID)
    assert {answer.response.content for answer in answers} == {answers[0].response.content}


def test_a_refused_click_spends_nothing(flows, token):
    flows.click(token, BEN)

    assert flows.click(token).status == 200


def test_the_address_is_compared_as_ever(flows, token):
    assert flows.click(token, "ANN@Example.COM").status == 200


def test_a_newer_link_leaves_the_older_one_alive(flows, token):
    flows.email_token()

    assert flows.click(token).status == 200


def test_a_link_of_somebody_who_is_inactive_by_now_is_invalid(flows, token):
    deactivate()

    assert flows.click(token).error == INVALID


def test_a_verified_address_gets_no_further_link(api, ann, post):
    prove()
    api.post("send-verification-email", email=ANN)

    assert post.letter(message_queue.VERIFY_EMAIL) is None


def test_a_signup_mails_a_link(api, flows, post):
    token = api.sign_up()["access_token"]

    assert flows.click(post.token(message_queue.VERIFY_EMAIL)).status == 200
    assert email_verified(token, api)


def test_a_head_request_verifies_nothing(api, ann, token):
    assert api.request("HEAD", verify_path(token)).status == 200

    assert not email_verified(ann["access_token"], api)


@pytest.mark.parametrize("headers", AHEAD, ids=str)
def test_a_look_ahead_verifies_nothing(api, flows, ann, token, headers):
    flows.click(token, **headers)

    assert not email_verified(ann["access_token"], api)


@pytest.mark.parametrize("headers", AHEAD, ids=str)
def test_a_look_ahead_spends_nothing(flows, token, headers):
    flows.click(token, **headers)

    assert not OneTimeToken.objects.exclude(spent_at=None).exists()


@pytest.mark.parametrize("headers", [{}, *AHEAD[:1]], ids=["HEAD", "prefetch"])
def test_a_look_ahead_does_not_tell_a_good_link_from_a_bad_one(api, token, headers):
    method = "GET" if headers else "HEAD"
    good, bad = (
        api.request(method, verify_path(text), headers=headers) for text in (token, "A" * 43)
    )

    assert (good.status, good.response.content) == (bad.status, bad.response.content)


def test_nothing_of_it_is_to_be_cached(flows, token):
    for text in (token, "A" * 43):
        assert flows.click(text).headers["Cache-Control"] == "no-store"
