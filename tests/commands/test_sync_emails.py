"""The sync of accounts lists users whose address or username is invalid."""

import pytest

from tests.support.client import PASSWORD
from tests.support.people import has, make_user

pytestmark = pytest.mark.django_db


def test_sync_reports_users_with_unusual_addresses(run):
    make_user("ann@example.com")
    unusual = [make_user('"bob"@example.com', username="bob"), make_user("cid@localhost")]

    output = run("authservice_sync_accounts", "--dry-run")

    assert f"otherwise not valid): users {unusual[0].pk}, {unusual[1].pk}." in output


def test_sync_names_ten_users_with_unusual_addresses_and_counts_the_others(run):
    for number in range(12):
        make_user(f"ann{number}@localhost")

    output = run("authservice_sync_accounts", "--batch-size", "5")

    assert output.count("and 2 more") == 1


def test_sync_is_silent_about_ordinary_addresses(run):
    make_user("ann@example.com")

    assert "a new account must not have" not in run("authservice_sync_accounts")


@pytest.mark.skipif(not has("username"), reason="the users of this host have no username")
@pytest.mark.parametrize(
    "name", ["ann ", " ann", "a\tb", "ann\n", "a\u0301nn", "\x7fann", "ann\u00a0"]
)
def test_sync_reports_users_whose_username_no_login_can_name(api, run, name):
    user = make_user("ann@example.com", username=name)
    make_user("ben@example.com", username="Ben Bo\u00fd")

    output = run("authservice_sync_accounts")

    assert f"normal form C): users {user.pk}." in output
    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200
    assert api.post("login", username="Ben Bo\u00fd", password=PASSWORD).status == 200


@pytest.mark.parametrize("spelling", ["ann", "Ann.B", "ann b", "\u5b89"])
def test_sync_is_silent_about_ordinary_usernames(run, spelling):
    make_user("ann@example.com", username=spelling)

    assert "no login can name" not in run("authservice_sync_accounts", "--dry-run")
