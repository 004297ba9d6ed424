"""Requests for a link do not reveal which addresses have an account, and are limited."""

import dataclasses

import pytest

from authservice.kernel.modules import plugged
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import KIND
from tests.support.flows import deactivate, prove
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

STATES = {
    "unproven": "ann@example.com",
    "proven": "ben@example.com",
    "inactive": "cid@example.com",
    "unknown": "dot@example.com",
}
EACH_ROUTE = pytest.mark.parametrize("path", ["send", "resend"])
EACH_AUTO_REGISTER = pytest.mark.parametrize("auto_register", [False, True])
TRACE = {"X_Request_ID": "trace-1"}


@pytest.fixture(autouse=True)
def _people(api, post):
    for state, email in STATES.items():
        if state != "unknown":
            api.sign_up(email)
    prove(STATES["proven"])
    prove(STATES["inactive"])
    deactivate(STATES["inactive"])
    post.jobs.clear()


def parts(answer):
    return answer.status, answer.response.content, dict(answer.response.items())


@EACH_ROUTE
@EACH_AUTO_REGISTER
class TestEveryState:
    @pytest.fixture(autouse=True)
    def _auto_register(self, magiclink, auto_register):
        magiclink(AUTO_REGISTER=auto_register)

    def test_response_is_identical_for_every_state_of_an_account(self, magic, path):
        answers = [parts(magic.ask(email, path=path, **TRACE)) for email in STATES.values()]

        assert answers == [answers[0]] * len(STATES)
        assert answers[0][0] == 200

    def test_statements_are_identical_for_every_state_of_an_account(self, magic, path):
        asked = [
            statements(lambda email=email: magic.ask(email, path=path)) for email in STATES.values()
        ]

        assert asked == [asked[0]] * len(STATES)

    def test_job_differs_only_in_its_target(self, magic, post, path):
        for email in STATES.values():
            magic.ask(email, path=path, **TRACE)

        assert [job.target for job in post.jobs] == list(STATES.values())
        assert len({repr(dataclasses.replace(job, target="")) for job in post.jobs}) == 1

    def test_response_and_statements_beyond_the_limit_stay_the_same(self, magic, path):
        usual = parts(magic.ask(path=path, **TRACE))
        for email in STATES.values():
            for _ in range(4):
                magic.ask(email, path=path)

        answers = [parts(magic.ask(email, path=path, **TRACE)) for email in STATES.values()]
        asked = [statements(lambda e=email: magic.ask(e, path=path)) for email in STATES.values()]

        assert answers == [usual] * len(STATES)
        assert asked == [asked[0]] * len(STATES)


@pytest.mark.parametrize(
    ("state", "written"), [("unproven", 1), ("proven", 1), ("inactive", 0), ("unknown", 0)]
)
def test_worker_decides_whether_an_email_is_sent(magic, state, written):
    magic.ask(STATES[state])

    message = magic.message()

    assert bool(message) is bool(written)
    assert message is None or message.to == STATES[state]


def test_request_with_confirmation_sets_the_binding_cookie_for_every_address(magic, magiclink):
    magiclink(CONFIRM="auto")

    cookies = [magic.ask(email).response.cookies for email in STATES.values()]

    assert {tuple(cookie) for cookie in cookies} == {("authservice_magiclink",)}
    assert len({cookie["authservice_magiclink"].OutputString()[:21] for cookie in cookies}) == 1
    assert len({len(cookie["authservice_magiclink"].value) for cookie in cookies}) == 1


def test_send_and_resend_share_their_limit(magic, post):
    for path in ("send", "resend", "send", "resend", "send"):
        magic.ask(path=path)

    assert [job.kind for job in post.jobs] == [KIND] * 3


def test_job_contains_no_secret_and_no_client_address(magic, post, magiclink):
    magiclink(AUTO_REGISTER=True)
    magic.ask()

    [job] = post.jobs

    assert set(job.details) == {"network"}
    assert "127.0.0.1" not in repr(job)


@EACH_ROUTE
@pytest.mark.parametrize("body", [{}, {"email": ""}, {"email": "no address"}, {"email": None}])
def test_request_with_invalid_address_is_refused(api, path, body):
    answer = api.post(f"magic-link/{path}", **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")


@EACH_ROUTE
def test_request_without_a_messenger_is_refused(magic, path):
    with plugged("messenger", None):
        answer = magic.ask(path=path)

    assert is_refusal(answer, 501, "EMAIL_NOT_CONFIGURED")
