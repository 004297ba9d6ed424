"""Runs the tests of Django admin in hosts with different user models, each in its own process."""

import pytest
from django.db import connection

from tests.hosts.runs import SQLITE, holds

HOSTS = [
    pytest.param({}, id="integer keys"),
    pytest.param({"ADMIN_USERS": "email", "sample": True, **SQLITE}, id="UUID keys and e-mail"),
]
SETTINGS = "--ds=tests.admin.settings"
PAGES = ("tests/admin/inside", SETTINGS)
# Who may do what, and how staff log in: seen in every run, since no other suite would see it.
MAIN_RULES = (
    *("actions", "changes", "last_super_admin", "login", "notices", "password_changed"),
    *("refused_rows", "rights", "sessions", "super_admins"),
)


def test_main_rules_of_admin_hold():
    files = [f"tests/admin/inside/test_{name}.py" for name in MAIN_RULES]
    holds(*files, SETTINGS, sample=True, migrate=False)


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_admin_in_a_host_with_users_of(host):
    holds(*PAGES, **host)


@pytest.mark.slow
@pytest.mark.parametrize("users", ["", "email"])
def test_odd_urls_and_searches_in_a_host_with_every_module(users):
    files = [f"tests/admin/inside/test_{name}.py" for name in ("odd_urls", "search")]
    holds(*files, "--ds=tests.audit.settings", ADMIN_USERS=users)


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite allows one writer at a time")
def test_admin_under_concurrent_requests():
    holds("-m", "slow", *PAGES)
