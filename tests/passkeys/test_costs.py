"""How many SQL statements each request costs, without those that begin and end transactions."""

import time
from statistics import median

import pytest
from django.test import Client

from authservice.core.login import step_up
from authservice.core.login.step_up import Need
from authservice.core.sessions import bearer
from authservice.kernel import clock
from authservice.kernel.secret import Secret
from tests.passkeys.people import begin_login, finish_login
from tests.support.statements import ALONG, UNLOCKED, statements

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("ungated")]


def cost(call):
    return len(statements(call))


def medians(*calls, rounds=200):
    """The medians of the processor time of each call in microseconds; the calls take turns."""
    times = [[] for _ in calls]
    for _ in range(rounds):
        for taken, call in zip(times, calls, strict=True):
            start = time.thread_time()
            call()
            taken.append((time.thread_time() - start) * 1e6)
    return [median(taken) for taken in times]


def test_options_of_a_login_cost_nothing(api):
    assert cost(lambda: begin_login(api)) == 0


def test_options_of_a_new_passkey_cost_the_caller_the_list_and_the_handle(ann):
    assert cost(lambda: ann.post("passkeys/options")) == 3


def test_login_costs_six_on_postgresql_seven_on_sqlite_and_eight_on_mariadb(ann):
    """PostgreSQL writes two of them along with others, see `ALONG`; SQLite has no row locks."""
    ann.enrol()
    ann.log_in()
    begun = ann.login_options()
    credential = ann.sign(begun)

    assert cost(lambda: finish_login(ann.api, begun, credential)) == 8 - 2 * ALONG - UNLOCKED


def test_unknown_passkey_costs_one(ann):
    ann.enrol()
    ann.device.credentials[0].id = b"another id" * 3
    begun = ann.login_options()
    credential = ann.sign(begun)

    assert cost(lambda: finish_login(ann.api, begun, credential)) == 1


def test_list_costs_two(ann):
    ann.enrol()

    assert cost(lambda: ann.get("passkeys")) == 2


@pytest.mark.slow
@pytest.mark.timed
def test_options_and_the_guard_of_a_route_cost_less_than_a_request_with_a_token(ann, configure):
    """Without what the tests compare with the API description. The guard asks the record that the
    request has read."""
    configure(THROTTLE={"ENABLED": False})
    client, headers = Client(), {"Authorization": f"Bearer {ann.token}"}
    caller = bearer.identify(Secret(ann.token))
    caller.require_live()

    def ask_guard():
        step_up.require(caller.person, caller.record, Need("aal1"))

    options, me = medians(
        lambda: client.post("/auth/passkeys/login/options", {}, "application/json"),
        lambda: client.get("/auth/me", headers=headers),
    )
    with clock.unit(caller.reading):  # as in a request
        (guard,) = medians(ask_guard)

    print(f"options {options:.0f}, GET /me {me:.0f}, guard {guard:.0f} microseconds")
    assert options <= me
    assert guard <= me / 10


def test_guard_of_a_route_costs_no_statement(ann, configure):
    before = cost(lambda: ann.get("me"))

    configure(STEP_UP={"FURTHER_ROUTES": {"GET /me": {"acr": "aal1", "max_age": 600}}})

    assert cost(lambda: ann.get("me")) == before == 1
