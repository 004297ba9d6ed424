"""How many SQL statements each request costs, without those that begin and end transactions."""

import pytest
from django.apps import apps

from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, OTHER_PHONE, PHONE, prove, wrong
from tests.support.statements import FIRST, UNLOCKED, statements

WITH_PASSKEYS = apps.is_installed("authservice.passkeys")
pytestmark = pytest.mark.django_db


def cost(call):
    return len(statements(call))


@pytest.fixture
def put(api, ann):
    def put(path, **body):
        return api.request("PUT", path, body, token=ann["access_token"])

    return put


@pytest.mark.parametrize(("body", "statements"), [({}, 1), ({"name": ""}, 3)])
def test_profile_without_changes_costs_one_or_three(put, body, statements):
    assert cost(lambda: put("profile", **body)) == statements


@pytest.mark.parametrize(
    ("body", "statements"), [({"name": "Ann Cee"}, 4), ({"phone": OTHER_PHONE}, 7 + FIRST)]
)
def test_changed_profile_costs_a_row_lock_more(put, body, statements):
    assert cost(lambda: put("profile", **body)) == statements


def test_wrong_old_password_costs_two(put):
    put("change-password", old_password="wrong", new_password=NEW)

    assert cost(lambda: put("change-password", old_password="wrong", new_password=NEW)) == 2


def test_changed_password_costs_nine(put):
    put("change-password", old_password="wrong", new_password=NEW)

    assert cost(lambda: put("change-password", old_password=PASSWORD, new_password=NEW)) == 9


@pytest.mark.parametrize(("target", "counters"), [({"email": ANN}, 3), ({"phone": PHONE}, 4)])
def test_request_of_a_message_costs_one_statement_for_each_limit(api, ann, target, counters):
    api.post("forgot-password", **target)

    assert cost(lambda: api.post("forgot-password", **target)) == counters


def test_request_of_a_message_without_rate_limits_costs_nothing(api, ann, no_floods):
    assert cost(lambda: api.post("forgot-password", email=ANN)) == 0


def test_invalid_link_costs_at_most_two(flows, ann):
    assert cost(lambda: flows.reset("A" * 43)) == 2
    assert cost(lambda: flows.click("A" * 43)) == 1


def test_code_for_an_unknown_number_costs_as_many_as_a_wrong_one(flows, ann):
    assert cost(lambda: flows.verify_phone("123456")) == 4 + FIRST


def test_wrong_code_costs_four(flows, ann):
    code = wrong(flows.phone_code())

    assert cost(lambda: flows.verify_phone(code)) == 4 + FIRST


def test_verified_number_costs_eleven(flows, ann):
    code = flows.phone_code()

    assert cost(lambda: flows.verify_phone(code)) == 11 + FIRST - UNLOCKED


def test_verified_address_costs_six(flows, ann):
    token = flows.email_token()

    assert cost(lambda: flows.click(token)) == 6 - UNLOCKED


def test_second_click_costs_five(flows, ann):
    token = flows.email_token()
    flows.click(token)

    assert cost(lambda: flows.click(token)) == 5 - UNLOCKED


def test_reset_by_link_costs_twenty_one(flows, ann):
    token = flows.reset_token()

    # One of them looks for invitations that the user sent, two for passkeys of the last days.
    assert cost(lambda: flows.reset(token)) == 21 - UNLOCKED + (2 if WITH_PASSKEYS else 0)


def test_reset_by_code_costs_sixteen(flows, ann):
    prove(phone=PHONE)
    code = flows.reset_code()

    assert cost(lambda: flows.reset_by_code(code)) == 16 + FIRST - UNLOCKED


@pytest.mark.parametrize("body", [{"phone": PHONE}, {"phone": OTHER_PHONE}])
def test_availability_of_a_number_costs_at_most_two(api, ann, body):
    assert cost(lambda: api.post("is-available", **body)) <= 2
