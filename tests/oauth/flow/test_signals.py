"""A link that is added or removed sends its signal, after the commit."""

import pytest
from django.db import transaction

from authservice import signals
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.oauth import linking
from authservice.oauth.eviction import account_access
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(received):
    """`sent()` are user, target and provider of the events of both signals."""
    linked, unlinked = received(signals.provider_linked), received(signals.provider_unlinked)

    def taken():
        events = [[*found] for found in (linked, unlinked)]
        linked.clear()
        unlinked.clear()
        return tuple(
            [(one.user, one.target, one.metadata["provider"]) for one in found] for found in events
        )

    return taken


def test_sign_up_with_a_provider_and_unlinking_send_them(api, browser, sent):
    token = browser.sign_in().data["access_token"]
    assert sent() == ([(the_user(), None, "acme")], [])

    browser.sign_in()
    assert sent() == ([], [])
    assert api.request("DELETE", "oauth/acme", token=token).code == "OAUTH_LAST_LOGIN_METHOD"
    assert sent() == ([], [])


def test_user_links_and_unlinks(api, browser, sent):
    token = api.sign_up()["access_token"]
    browser.link(token)
    assert sent() == ([(the_user(), None, "acme")], [])

    assert api.request("DELETE", "oauth/acme", token=token).status == 200
    assert sent() == ([], [(the_user(), None, "acme")])


def test_staff_and_recoveries_unlink(api, browser, sent, django_capture_on_commit_callbacks):
    token = api.sign_up()["access_token"]
    user, person = the_user(), lookup.get_person(the_user())
    browser.link(token)
    with django_capture_on_commit_callbacks(execute=True):
        linking.unlink_by_staff(person, "acme", by=user, client=Client())
    browser.link(token)
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        account_access.first_proof(person)

    _, unlinked = sent()
    assert unlinked == [(user, user, "acme"), (None, user, "acme")]
