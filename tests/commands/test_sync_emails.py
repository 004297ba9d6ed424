"""The sync of accounts lists users whose address is invalid for a new account."""

import pytest

from tests.support.people import make_user

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
