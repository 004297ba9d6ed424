"""With hidden sign-ups and required verification, a login does not reveal who has an account."""

import pytest

from authservice.core.messages import kinds
from tests.support.client import PASSWORD
from tests.support.flows import ANN, prove
from tests.support.slots import Listener

pytestmark = pytest.mark.django_db

FREE = "new@example.com"
OWN = "fig tart 43 doors"  # the password of the client that signs up
INVALID = (401, "INVALID_CREDENTIALS")


@pytest.fixture
def hidden(ann, configure):
    prove(ANN)
    configure(CORE={"SIGNUP_ENUMERATION": "hide", "REQUIRE_EMAIL_VERIFICATION": True})


@pytest.fixture
def sign_up(hidden, api, post):
    """Sign up, and run the job of the worker."""

    def sign_up(email):
        assert api.post("signup", email=email, password=OWN).status == 201
        post.outgoing(kinds.SIGNUP)

    return sign_up


@pytest.fixture
def log_in(api):
    def log_in(email, password=OWN):
        headers = {"X-Request-ID": "trace-1"}
        return api.post("login", headers=headers, email=email, password=password)

    return log_in


def visible(answer):
    cookies = answer.response.cookies.output()
    return answer.status, answer.response.content, dict(answer.response.items()), cookies


def test_login_after_a_sign_up_answers_alike_for_taken_and_free_address(sign_up, log_in):
    sign_up(FREE)
    sign_up(ANN)

    free = log_in(FREE)

    assert free.error == INVALID
    assert visible(free) == visible(log_in(ANN)) == visible(log_in("nobody@example.com"))


@pytest.mark.parametrize("email", [FREE, ANN])
def test_password_of_an_unverified_address_counts_as_a_wrong_one(clock, sign_up, log_in, email):
    sign_up(email)

    answers = [log_in(email).error for _ in range(11)]

    assert answers == [INVALID] * 10 + [(429, "TOO_MANY_ATTEMPTS")]


@pytest.mark.parametrize("email", [FREE, ANN])
def test_password_of_an_unverified_address_counts_for_its_network(
    clock, configure, sign_up, log_in, email
):
    sign_up(email)
    core = {"SIGNUP_ENUMERATION": "hide", "REQUIRE_EMAIL_VERIFICATION": True}
    configure(CORE=core, THROTTLE={"RATES": {"guess": "3/h"}})

    answers = [log_in(email).error for _ in range(4)]

    assert answers == [INVALID] * 3 + [(429, "TOO_MANY_REQUESTS")]


def test_owner_logs_in_once_the_address_is_verified(sign_up, log_in):
    sign_up(FREE)
    prove(FREE)

    assert log_in(FREE).status == 200
    assert log_in(ANN, PASSWORD).status == 200


def test_audit_log_says_what_the_response_does_not(sign_up, log_in, monkeypatch):
    recorded = []
    monkeypatch.setattr(
        "authservice.kernel.events.plugs", lambda slot: (Listener(recorded.append),)
    )
    sign_up(FREE)

    log_in(FREE)

    [event] = [event for event in recorded if event.action == "auth.login.failed"]
    assert event.metadata["reason"] == "email_not_verified"


def test_login_says_so_if_sign_ups_hide_nothing(sign_up, log_in, configure):
    sign_up(FREE)
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert log_in(FREE).error == (403, "EMAIL_NOT_VERIFIED")
