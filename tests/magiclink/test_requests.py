"""Asking for a link tells nobody who has an account, and sends no more than a person can want."""

import dataclasses

import pytest

from authservice.kernel.modules import plugged
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import KIND
from tests.recovery.flows import deactivate, prove
from tests.recovery.statements import statements

pytestmark = pytest.mark.django_db

STATES = {
    "unproven": "ann@example.com",
    "proven": "ben@example.com",
    "inactive": "cid@example.com",
    "unknown": "dot@example.com",
}
EACH_ROUTE = pytest.mark.parametrize("path", ["send", "resend"])
EACH_KIND = pytest.mark.parametrize("auto_register", [False, True])
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


def told(answer):
    return answer.status, answer.response.content, dict(answer.response.items())


@EACH_ROUTE
@EACH_KIND
class TestAlike:
    @pytest.fixture(autouse=True)
    def _registering(self, magiclink, auto_register):
        magiclink(AUTO_REGISTER=auto_register)

    def test_the_answer_is_the_same_to_the_last_byte(self, magic, path):
        answers = [told(magic.ask(email, path=path, **TRACE)) for email in STATES.values()]

        assert answers == [answers[0]] * len(STATES)
        assert answers[0][0] == 200

    def test_the_database_is_asked_the_same(self, magic, path):
        asked = [
            statements(lambda email=email: magic.ask(email, path=path)) for email in STATES.values()
        ]

        assert asked == [asked[0]] * len(STATES)

    def test_the_job_is_the_same_but_for_its_target(self, magic, post, path):
        for email in STATES.values():
            magic.ask(email, path=path, **TRACE)

        assert [job.target for job in post.jobs] == list(STATES.values())
        assert len({repr(dataclasses.replace(job, target="")) for job in post.jobs}) == 1

    def test_past_the_limit_the_answer_and_the_work_stay_the_same(self, magic, path):
        usual = told(magic.ask(path=path, **TRACE))
        for email in STATES.values():
            for _ in range(4):
                magic.ask(email, path=path)

        answers = [told(magic.ask(email, path=path, **TRACE)) for email in STATES.values()]
        asked = [statements(lambda e=email: magic.ask(e, path=path)) for email in STATES.values()]

        assert answers == [usual] * len(STATES)
        assert asked == [asked[0]] * len(STATES)


@pytest.mark.parametrize(
    ("state", "written"), [("unproven", 1), ("proven", 1), ("inactive", 0), ("unknown", 0)]
)
def test_who_is_written_to_turns_out_in_the_worker(magic, state, written):
    magic.ask(STATES[state])

    letter = magic.letter()

    assert bool(letter) is bool(written)
    assert letter is None or letter.to == STATES[state]


def test_where_the_binding_is_on_every_answer_sets_the_cookie(magic, magiclink):
    magiclink(CONFIRM="auto")

    cookies = [magic.ask(email).response.cookies for email in STATES.values()]

    assert {tuple(cookie) for cookie in cookies} == {("authservice_magiclink",)}
    assert len({cookie["authservice_magiclink"].OutputString()[:21] for cookie in cookies}) == 1
    assert len({len(cookie["authservice_magiclink"].value) for cookie in cookies}) == 1


def test_send_and_resend_share_their_limit(magic, post):
    for path in ("send", "resend", "send", "resend", "send"):
        magic.ask(path=path)

    assert [job.kind for job in post.jobs] == [KIND] * 3


def test_a_job_carries_no_secret_and_no_address_of_a_client(magic, post, magiclink):
    magiclink(AUTO_REGISTER=True)
    magic.ask()

    [job] = post.jobs

    assert set(job.details) == {"network"}
    assert "127.0.0.1" not in repr(job)


@EACH_ROUTE
@pytest.mark.parametrize("body", [{}, {"email": ""}, {"email": "no address"}, {"email": None}])
def test_what_is_no_address_is_refused(api, path, body):
    answer = api.post(f"magic-link/{path}", **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")


@EACH_ROUTE
def test_where_nobody_mails_it_is_said(magic, path):
    with plugged("messenger", None):
        answer = magic.ask(path=path)

    assert is_refusal(answer, 501, "EMAIL_NOT_CONFIGURED")
