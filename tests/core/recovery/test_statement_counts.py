"""How many SQL statements each request costs, beginnings and ends of transactions not counted."""

import pytest

from tests.client import PASSWORD
from tests.recovery.flows import ANN, NEW, OTHER_PHONE, PHONE, prove, wrong
from tests.recovery.statements import FIRST, statements

pytestmark = pytest.mark.django_db


def cost(call):
    return len(statements(call))


@pytest.fixture
def put(api, ann):
    def put(path, **body):
        return api.request("PUT", path, body, token=ann["access_token"])

    return put


@pytest.mark.parametrize(("body", "statements"), [({}, 1), ({"name": ""}, 3)])
def test_profile_unchanged_costs_the_look_at_the_session(put, body, statements):
    assert cost(lambda: put("profile", **body)) == statements


@pytest.mark.parametrize(
    ("body", "statements"), [({"name": "Ann Cee"}, 4), ({"phone": OTHER_PHONE}, 6 + FIRST)]
)
def test_profile_changed_costs_a_row_lock_more(put, body, statements):
    assert cost(lambda: put("profile", **body)) == statements


def test_a_wrong_old_password_costs_two(put):
    put("change-password", old_password="wrong", new_password=NEW)

    assert cost(lambda: put("change-password", old_password="wrong", new_password=NEW)) == 2


def test_a_changed_password_costs_nine(put):
    put("change-password", old_password="wrong", new_password=NEW)

    assert cost(lambda: put("change-password", old_password=PASSWORD, new_password=NEW)) == 9


@pytest.mark.parametrize(("target", "counters"), [({"email": ANN}, 3), ({"phone": PHONE}, 4)])
def test_requesting_a_message_costs_one_statement_for_each_limit(api, ann, target, counters):
    api.post("forgot-password", **target)

    assert cost(lambda: api.post("forgot-password", **target)) == counters


def test_where_nothing_is_counted_asking_for_a_letter_costs_nothing(api, ann, no_floods):
    assert cost(lambda: api.post("forgot-password", email=ANN)) == 0


def test_a_token_that_is_none_costs_at_most_two(flows, ann):
    assert cost(lambda: flows.reset("A" * 43)) == 2
    assert cost(lambda: flows.click("A" * 43)) == 1


def test_a_code_for_nobody_costs_as_many_as_a_wrong_one(flows, ann):
    assert cost(lambda: flows.verify_phone("123456")) == 4 + FIRST


def test_a_wrong_code_costs_four(flows, ann):
    code = wrong(flows.phone_code())

    assert cost(lambda: flows.verify_phone(code)) == 4 + FIRST


def test_a_verified_number_costs_seven(flows, ann):
    code = flows.phone_code()

    assert cost(lambda: flows.verify_phone(code)) == 7 + FIRST


def test_a_verified_address_costs_six(flows, ann):
    token = flows.email_token()

    assert cost(lambda: flows.click(token)) == 6


def test_a_second_click_costs_five(flows, ann):
    token = flows.email_token()
    flows.click(token)

    assert cost(lambda: flows.click(token)) == 5


def test_a_reset_by_link_costs_sixteen(flows, ann):
    token = flows.reset_token()

    assert cost(lambda: flows.reset(token)) == 16


def test_a_reset_by_code_costs_fourteen(flows, ann):
    prove(phone=PHONE)
    code = flows.reset_code()

    assert cost(lambda: flows.reset_by_code(code)) == 14 + FIRST


@pytest.mark.parametrize("body", [{"phone": PHONE}, {"phone": OTHER_PHONE}])
def test_a_number_that_may_be_free_costs_at_most_two(api, ann, body):
    assert cost(lambda: api.post("is-available", **body)) <= 2
