"""How many SQL statements each request costs, without those that begin and end transactions."""

from datetime import timedelta

import pytest

from tests.support.client import PASSWORD
from tests.support.statements import ALONG, UNLOCKED, statements
from tests.twofactor.people import ANN

pytestmark = pytest.mark.django_db


def cost(call):
    return len(statements(call))


@pytest.fixture
def warm(enrolled, clock):
    """A user for whom all caches of the process are filled and every counter has its row."""
    enrolled.verify_login(enrolled.code())
    enrolled.verify_login(enrolled.backup_codes[-1])
    clock.forward(seconds=30)
    return enrolled


def log_in(api, **headers):
    return api.post("login", email=ANN, password=PASSWORD, headers=headers)


def test_login_without_a_factor_costs_at_most_six(api, ann):
    log_in(api)

    assert cost(lambda: log_in(api)) == 6 - 3 * ALONG


def test_challenged_login_costs_five(api, warm):
    assert cost(lambda: log_in(api)) == 5


def test_login_on_a_remembered_device_costs_at_most_eight(api, warm, configure, clock):
    configure(TWOFACTOR={"REMEMBER_TTL": timedelta(days=30)})
    answer = warm.verify_login(warm.code(), remember_device=True)
    device = {"X-Device-Token": answer.headers["X-Device-Token"]}
    log_in(api, **device)

    assert cost(lambda: log_in(api, **device)) == 8 - 2 * ALONG


def test_second_step_costs_at_most_eleven(warm):
    token, code = warm.temp_token(), warm.code()

    assert cost(lambda: warm.verify_login(code, token)) == 11 - 3 * ALONG - UNLOCKED


def test_second_step_with_a_backup_code_costs_at_most_eleven(warm):
    token = warm.temp_token()

    assert cost(lambda: warm.verify_login(warm.backup_codes[0], token)) == 11 - 3 * ALONG - UNLOCKED


@pytest.mark.parametrize("kind", ["totp", "backup"])
def test_wrong_code_costs_at_most_six(warm, kind):
    token = warm.temp_token()
    code = warm.wrong_code() if kind == "totp" else "AAAA-BBBB-CCCC"

    most = 5 if kind == "totp" else 6
    assert cost(lambda: warm.verify_login(code, token)) == most - UNLOCKED


@pytest.mark.parametrize("kind", ["totp", "backup"])
def test_step_up_costs_four_on_postgresql_and_six_elsewhere(warm, kind):
    """PostgreSQL uses the code up, gives the attempt back and stores the proof in one."""
    token = warm.post("step-up", acr="aal2").data["challenges"][0]["data"]["temp_token"]
    code = warm.code() if kind == "totp" else warm.backup_codes[0]

    def answer():
        assert warm.post("step-up/verify", temp_token=token, code=code).status == 200

    assert cost(answer) == 6 - 2 * ALONG


def test_unknown_temp_token_costs_three(warm):
    assert cost(lambda: warm.verify_login("123456", "A" * 43)) == 3


def test_status_costs_three(warm):
    assert cost(lambda: warm.get("2fa/status")) == 3
    assert warm.get("2fa/status").status == 200


# One looks for passkeys, beside which an app is set up only after a step-up.


def test_setup_costs_nine(ann):
    ann.set_up()

    assert cost(lambda: ann.post("2fa/setup")) == 9


def test_enabling_costs_eleven(ann):
    ann.set_up()
    ann.post("2fa/verify", code=ann.wrong_code())
    code = ann.code()

    assert cost(lambda: ann.post("2fa/verify", code=code)) == 11
