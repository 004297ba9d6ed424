"""The number of SQL statements of each request, without BEGIN and COMMIT."""

from itertools import count

import pytest

from tests.support.client import PASSWORD
from tests.support.statements import ALONG
from tests.support.statements import statements as statements_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("ungated")]


def statements(call):
    """The statements of the second call; the first one fills process-wide caches."""
    call()
    return statements_of(call)


def test_me_costs_one_statement(api):
    token = api.sign_up()["access_token"]

    assert len(statements(lambda: api.get("me", token=token))) == 1


def test_login_costs_at_most_six_statements(api):
    api.sign_up()

    assert len(statements(api.log_in)) == 6 - 3 * ALONG


def test_login_on_known_device_costs_at_most_six_statements(api):
    api.sign_up()
    body = {"email": "ann@example.com", "password": PASSWORD}
    known = {"X-Device-Token": api.post("login", **body).headers["X-Device-Token"]}

    assert len(statements(lambda: api.log_in(headers=known))) == 6 - 2 * ALONG


def test_refresh_costs_two_statements(api):
    live = [api.sign_up()["refresh_token"]]

    def refresh():
        live.append(api.post("refresh", refresh_token=live[-1]).data["refresh_token"])

    assert len(statements(refresh)) == 2


def test_signup_costs_at_most_five_statements(api):
    number = count()

    assert len(statements(lambda: api.sign_up(f"ann{next(number)}@example.com"))) == 5 - ALONG


def test_logout_costs_four_statements(api):
    api.sign_up()
    tokens = [api.log_in()["access_token"] for _ in range(2)]

    assert len(statements(lambda: api.post("logout", token=tokens.pop()))) == 4


def test_login_with_wrong_password_costs_two_statements(api):
    api.sign_up()

    def attempt():
        api.post("login", email="ann@example.com", password="wrong")

    assert len(statements(attempt)) == 2


def test_unknown_route_costs_no_statement(api):
    assert statements(lambda: api.get("nowhere")) == []


def test_forged_access_token_costs_no_statement(api):
    assert statements(lambda: api.get("me", token="a.b.c")) == []


def test_forged_refresh_token_costs_no_statement(api):
    assert statements(lambda: api.post("refresh", refresh_token="nonsense")) == []


@pytest.mark.parametrize("name", ["email", "username"])
def test_login_of_unknown_user_costs_as_many_statements_as_wrong_password(api, name):
    known = api.sign_up(username="ann")["user"]

    def attempt(value):
        return lambda: api.post("login", password="wrong", **{name: value})

    unknown, wrong = statements(attempt("nobody")), statements(attempt(known[name]))

    assert len(unknown) == len(wrong)
