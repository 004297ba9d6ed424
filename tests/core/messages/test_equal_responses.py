"""Requests for a message do not reveal accounts, verified addresses or lockouts."""

import dataclasses

import pytest

from tests.core.messages.test_requests import BY_EMAIL, BY_PHONE
from tests.support.flows import deactivate, prove
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

STATES = {
    "unproven": ("ann@example.com", "+4930123451"),
    "proven": ("ben@example.com", "+4930123452"),
    "inactive": ("cid@example.com", "+4930123453"),
    "unknown": ("dot@example.com", "+4930123454"),
}
OTHER = ("eve@example.com", "+4930123455")
ROUTES = [(path, 0) for path in BY_EMAIL] + [(path, 1) for path in BY_PHONE]
EACH_ROUTE = pytest.mark.parametrize(
    ("path", "which"), ROUTES, ids=[f"{path}-{('email', 'phone')[n]}" for path, n in ROUTES]
)
DEVICES = {"no device": {}, "an unknown device": {"X-Device-Token": "Zm9v.Zm9v"}}


@pytest.fixture(autouse=True)
def _people(api, post):
    for state, (email, phone) in STATES.items():
        if state != "unknown":
            api.sign_up(email, phone_number=phone)
    prove(*STATES["proven"])
    prove(*STATES["inactive"])
    deactivate(STATES["inactive"][0])
    post.jobs.clear()


@pytest.fixture(params=DEVICES)
def ask(request, api):
    """`ask(path, which, state)` requests a message to a user in that state."""

    def ask(path, which, state):
        headers = {"X-Request-ID": "trace-1", **DEVICES[request.param]}
        names = STATES.get(state, OTHER)
        return api.post(path, headers=headers, **{("email", "phone")[which]: names[which]})

    return ask


def parts(answer):
    return answer.status, answer.response.content, dict(answer.response.items())


@EACH_ROUTE
def test_response_is_identical_for_every_state_of_an_account(ask, path, which):
    answers = [parts(ask(path, which, state)) for state in STATES]

    assert answers == [answers[0]] * len(STATES)


@EACH_ROUTE
def test_response_sets_no_cookie(ask, path, which):
    assert [ask(path, which, state).response.cookies.output() for state in STATES] == [""] * 4


@EACH_ROUTE
def test_statements_are_identical_for_every_state_of_an_account(ask, path, which):
    ask(path, which, "other")  # creates the counters that all recipients of a client share
    asked = [statements(lambda state=state: ask(path, which, state)) for state in STATES]

    assert asked == [asked[0]] * len(STATES)


@EACH_ROUTE
def test_job_differs_only_in_its_target(ask, post, path, which):
    for state in STATES:
        ask(path, which, state)

    assert [job.target for job in post.jobs] == [names[which] for names in STATES.values()]
    assert [dataclasses.replace(job, target="") for job in post.jobs] == [
        dataclasses.replace(post.jobs[0], target="")
    ] * len(STATES)


@EACH_ROUTE
def test_response_and_statements_beyond_the_limit_stay_the_same(ask, path, which):
    usual = parts(ask(path, which, "unproven"))
    for state in STATES:
        for _ in range(4):
            ask(path, which, state)

    answers = [parts(ask(path, which, state)) for state in STATES]
    asked = [statements(lambda state=state: ask(path, which, state)) for state in STATES]

    assert answers == [usual] * len(STATES)
    assert asked == [asked[0]] * len(STATES)


@pytest.mark.parametrize(
    ("path", "which", "written_to"),
    [
        ("forgot-password", 0, {"unproven", "proven"}),
        ("forgot-password", 1, {"proven"}),
        ("send-verification-email", 0, {"unproven"}),
        ("resend-verification-email", 0, {"unproven"}),
        ("send-verification-phone", 1, {"unproven"}),
        ("resend-verification-phone", 1, {"unproven"}),
    ],
)
def test_worker_decides_whether_a_message_is_sent(ask, post, path, which, written_to):
    messages = {}
    for state in STATES:
        ask(path, which, state)
        messages[state] = post.outgoing(post.jobs[-1].kind)

    assert {state for state, message in messages.items() if message} == written_to
    assert {messages[state].to for state in written_to} == {
        STATES[state][which] for state in written_to
    }
