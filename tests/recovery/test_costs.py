"""How many SQL statements each request costs, beginnings and ends of transactions not counted."""

import pytest

from tests.client import PASSWORD
from tests.recovery.flows import ANN, NEW, OTHER_PHONE, PHONE, prove, wrong
from tests.recovery.statements import statements

pytestmark = pytest.mark.django_db


def cost(call):
    return len(statements(call))


@pytest.fixture
def put(api, ann):
    def put(path, **body):
        return api.request("PUT", path, body, token=ann["access_token"])

    return put


@pytest.mark.parametrize("body", [{}, {"name": ""}])
def test_a_profile_that_stays_as_it_was_costs_one(put, body):
    assert cost(lambda: put("profile", **body)) == 1


@pytest.mark.parametrize("body", [{"name": "Ann Cee"}, {"phone": OTHER_PHONE}, {"phone": ""}])
def test_a_changed_profile_costs_two(put, body):
    assert cost(lambda: put("profile", **body)) == 2


def test_a_wrong_old_password_costs_two(put):
    put("change-password", old_password="wrong", new_password=NEW)

    assert cost(lambda: put("change-password", old_password="wrong", new_password=NEW)) == 2


def test_a_changed_password_costs_eight(put):
    put("change-password", old_password="wrong", new_password=NEW)

    assert cost(lambda: put("change-password", old_password=PASSWORD, new_password=NEW)) == 8


@pytest.mark.parametrize("target", [{"email": ANN}, {"phone": PHONE}])
def test_asking_for_a_letter_costs_its_three_counters(api, ann, target):
    api.post("forgot-password", **target)

    assert cost(lambda: api.post("forgot-password", **target)) == 3


def test_where_nothing_is_counted_asking_for_a_letter_costs_nothing(api, ann, no_floods):
    assert cost(lambda: api.post("forgot-password", email=ANN)) == 0


def test_a_token_that_is_none_costs_one(flows, ann):
    assert cost(lambda: flows.reset("A" * 43)) == 1
    assert cost(lambda: flows.click("A" * 43)) == 1


def test_a_code_for_nobody_costs_as_many_as_a_wrong_one(flows, ann):
    assert cost(lambda: flows.verify_phone("123456")) == 3


def test_a_wrong_code_costs_three(flows, ann):
    code = wrong(flows.phone_code())

    assert cost(lambda: flows.verify_phone(code)) == 3


def test_a_verified_number_costs_five(flows, ann):
    code = flows.phone_code()

    assert cost(lambda: flows.verify_phone(code)) == 5


def test_a_verified_address_costs_four(flows, ann):
    token = flows.email_token()

    assert cost(lambda: flows.click(token)) == 4


def test_a_second_click_costs_three(flows, ann):
    token = flows.email_token()
    flows.click(token)

    assert cost(lambda: flows.click(token)) == 3


def test_a_reset_by_link_costs_ten(flows, ann):
    token = flows.reset_token()

    assert cost(lambda: flows.reset(token)) == 10


def test_a_reset_by_code_costs_eleven(flows, ann):
    prove(phone=PHONE)
    code = flows.reset_code()

    assert cost(lambda: flows.reset_by_code(code)) == 11


@pytest.mark.parametrize("body", [{"phone": PHONE}, {"phone": OTHER_PHONE}])
def test_a_number_that_may_be_free_costs_at_most_two(api, ann, body):
    assert cost(lambda: api.post("is-available", **body)) <= 2
