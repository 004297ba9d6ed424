"""Searches of lists by users: which rows they find, and that they find accounts first."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authservice.core.models import Account, OneTimeToken, Session
from tests.admin.inside.conftest import listed
from tests.support.people import has, make_user, the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob(ann, api):
    """The session of a second user, from another address."""
    bob = make_user("bob.brown@example.com")
    Account.objects.filter(pk=bob.pk).update(name="Robert Brown")
    first = Session.objects.get()
    values = {f.attname: getattr(first, f.attname) for f in Session._meta.concrete_fields}
    values |= {"user_id": bob.pk, "ip_address": "2001:db8::17"}
    del values["id"]
    return Session.objects.create(**values)


def found(browser, model, text):
    return list(browser._client.get(listed(model), {"q": text}).context["cl"].queryset)


@pytest.mark.parametrize(
    "text",
    [
        *("bob.brown@example.com", "BROWN@", "robert", "robert bob.brown", '"rt br"'),
        *("2001:DB8", "::17", "robert 2001:db8", " robert  "),
    ],
)
def test_sessions_are_found_by_part_of_address_name_and_ip_address(root, bob, text):
    assert found(root, "session", text) == [bob]


@pytest.mark.parametrize("text", ["nobody", "robert ann@", "robert 127", "b%b", "b_b"])
def test_sessions_are_not_found_by_other_texts(root, bob, text):
    assert found(root, "session", text) == []


def test_sessions_of_several_users_are_found_once_each(root, bob):
    assert len(found(root, "session", "example.com")) == Session.objects.count() == 2
    assert len(found(root, "session", ".")) == 2


@pytest.mark.skipif(not has("username"), reason="its users have no username")
def test_one_time_tokens_are_found_by_username(root, bob):
    token = OneTimeToken.objects.create(
        purpose="verify-email", user=bob.user, expires_at=bob.expires_at
    )
    username = the_user("bob.brown@example.com").username

    assert found(root, "onetimetoken", username.upper()) == [token]


@pytest.mark.parametrize(
    ("text", "addresses"), [("bob.brown", False), ("abc", True), ("::1", True)]
)
def test_search_joins_no_accounts_and_reads_ip_addresses_only_for_a_part_of_one(
    root, bob, text, addresses
):
    with CaptureQueriesContext(connection) as queries:
        found(root, "session", text)

    (count,) = [one["sql"] for one in queries if "COUNT(" in one["sql"]]
    assert "JOIN" not in count
    assert ("ip_address" in count) is addresses
