"""How many SQL statements each request costs, beginnings and ends of transactions not counted."""

from itertools import count

import pytest

from tests.client import PASSWORD
from tests.recovery.statements import ALONG
from tests.recovery.statements import statements as asked_by

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("ungated")]


def statements(call):
    """The statements of the second call; the first one fills process-wide caches."""
    call()
    return asked_by(call)


def test_me_costs_one(api):
    token = api.sign_up()["access_token"]

    assert len(statements(lambda: api.get("me", token=token))) == 1


def test_login_costs_at_most_six(api):
    api.sign_up()

    assert len(statements(api.log_in)) == 6 - 2 * ALONG


def test_login_on_a_known_device_costs_at_most_six(api):
    api.sign_up()
    body = {"email": "ann@example.com", "password": PASSWORD}
    known = {"X-Device-Token": api.post("login", **body).headers["X-Device-Token"]}

    assert len(statements(lambda: api.log_in(headers=known))) == 6 - 2 * ALONG


def test_refresh_costs_two(api):
    live = [api.sign_up()["refresh_token"]]

    def refresh():
        live.append(api.post("refresh", refresh_token=live[-1]).data["refresh_token"])

    assert len(statements(refresh)) == 2


def test_signup_costs_at_most_five(api):
    number = count()

    assert len(statements(lambda: api.sign_up(f"ann{next(number)}@example.com"))) == 5 - ALONG


def test_logout_costs_four(api):
    api.sign_up()
    tokens = [api.log_in()["access_token"] for _ in range(2)]

    assert len(statements(lambda: api.post("logout", token=tokens.pop()))) == 4


def test_a_wrong_password_costs_two(api):
    api.sign_up()

    def guess():
        api.post("login", email="ann@example.com", password="wrong")

    assert len(statements(guess)) == 2


def test_an_unknown_route_costs_nothing(api):
    assert statements(lambda: api.get("nowhere")) == []


def test_a_forged_token_costs_nothing(api):
    assert statements(lambda: api.get("me", token="a.b.c")) == []


def test_a_forged_refresh_token_costs_nothing(api):
    assert statements(lambda: api.post("refresh", refresh_token="nonsense")) == []


@pytest.mark.parametrize("name", ["email", "username"])
def test_an_unknown_name_costs_as_many_as_a_wrong_password(api, name):
    known = api.sign_up(username="ann")["user"]

    def guess(value):
        return lambda: api.post("login", password="wrong", **{name: value})

    unknown, wrong = statements(guess("nobody")), statements(guess(known[name]))

    assert len(unknown) == len(wrong)
