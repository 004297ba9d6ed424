"""The pages of Django admin that list linked providers and unlink them."""

import pytest
from django.urls import reverse

from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.oauth import linking
from authservice.oauth.models import LinkedAccount
from tests.admin.inside.conftest import page
from tests.oauth import browsing
from tests.oauth.browsing import ANN, profile
from tests.support.people import change, the_user

pytestmark = pytest.mark.django_db
LIST = "admin:authservice_oauth_linkedaccount_changelist"


@pytest.fixture
def linked(api, configure, settings):
    section = {**settings.AUTHSERVICE["OAUTH"], "STORE_PROVIDER_TOKENS": True}
    configure(OAUTH=section)
    browsing.Browser(api).sign_in(profile("ann-at-acme"))
    return LinkedAccount.objects.get()


def unlink(browser, row):
    return browser.send(reverse(LIST), action="unlink", _selected_action=[str(row.pk)])


def test_pages_show_the_link_and_no_token(root, linked):
    shown = root.see(reverse(LIST)) + root.see(page(linked))

    assert "ann-at-acme" in shown
    assert linked.sealed_tokens
    assert linked.sealed_tokens not in shown
    assert linked.subject_key not in shown


def test_list_can_be_searched_by_address(root, linked):
    assert "1 linked provider" in root.see(reverse(LIST), q=ANN)
    assert "0 linked providers" in root.see(reverse(LIST), q="bob@example.com")


def test_staff_can_unlink_a_provider(root, linked):
    assert "Unlinked 1 provider." in unlink(root, linked).content.decode()

    assert not LinkedAccount.objects.exists()


def test_provider_unlinked_by_staff_is_recorded_as_such(root, linked, recorded):
    unlink(root, linked)

    (event,) = recorded("auth.oauth.unlinked")
    assert (event.user, event.target, event.actor_type) == (root.user, the_user(ANN), "admin")
    assert event.metadata == {"provider": "acme"}


def test_provider_that_is_unlinked_already_is_not_recorded_again(root, linked, recorded):
    person = lookup.get_person(linked.user)

    done = [
        linking.unlink_by_staff(person, "acme", by=root.user, client=Client()) for _ in range(2)
    ]

    assert done == [True, False]
    assert len(recorded("auth.oauth.unlinked")) == 1


def test_staff_without_the_permission_cannot_unlink(helper, linked):
    unlink(helper("view_linkedaccount"), linked)

    assert LinkedAccount.objects.exists()


def test_only_a_superuser_unlinks_a_superuser(helper, linked):
    change(ANN, is_superuser=True)

    unlink(helper("view_linkedaccount", "change_linkedaccount"), linked)

    assert LinkedAccount.objects.exists()


def test_link_is_neither_edited_nor_deleted_by_hand(root, linked):
    root.see(page(linked, "delete"), status=403)
    root.send(page(linked), subject="eve")

    assert LinkedAccount.objects.get().subject == "ann-at-acme"


def test_user_with_a_link_can_be_deleted(root, linked):
    root.send(page(the_user(ANN), "delete"), post="yes")

    assert not LinkedAccount.objects.exists()
