"""Lists of Django admin: the search of the log, confirmations of actions, links, super admins."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from authservice.audit.models import Entry
from authservice.core import errors
from authservice.core.models import Account, Session
from authservice.kernel import actions
from authservice.organization.models import Membership, Organization
from authservice.twofactor.models import Authenticator
from tests.admin.inside.conftest import listed, page
from tests.audit.stored import store
from tests.staff_support.inside.conftest import ANN, account, support_page
from tests.support.people import change, make_user, the_user

pytestmark = pytest.mark.django_db

LOG = reverse("admin:authservice_audit_entry_changelist")


@pytest.fixture
def bob(ann):
    bob = make_user("bob@example.com")
    Entry.objects.all().delete()
    store("auth.logout", bob)
    store("auth.login.failed", the_user())
    return bob


def found(browser, **query):
    shown = browser._client.get(LOG, query).context["cl"].queryset
    return sorted(entry.action for entry in shown)


@pytest.mark.parametrize("text", ["ann@example.com", "ANN@exam", "Annabel", "id"])
def test_log_is_searched_by_address_name_and_id(root, bob, text):
    Account.objects.filter(pk=account().pk).update(name="Annabel")
    text = str(the_user().pk) if text == "id" else text

    assert found(root, q=text) == ["auth.login.failed"]


def test_log_search_for_an_unknown_name_finds_nothing(root, bob):
    assert found(root, q="nobody@example.com") == []


def test_log_is_filtered_by_time(root, bob):
    store("auth.signup", bob, at=timezone.now() - timedelta(hours=2))
    store("auth.logout", bob, at=timezone.now() - timedelta(days=3))

    assert found(root, time="hour") == ["auth.login.failed", "auth.logout"]
    assert found(root, time="day") == ["auth.login.failed", "auth.logout", "auth.signup"]
    assert len(found(root, time="week")) == 4


def test_log_shows_people_as_links_to_their_support_page_and_seconds(root, bob):
    shown = root.see(LOG)

    assert f'<a href="{support_page()}">ann@example.com</a>' in shown
    assert f"{timezone.localtime(Entry.objects.latest('pk').created_at):%H:%M:%S}" in shown


def test_log_takes_as_many_queries_for_many_users(root, bob):
    with CaptureQueriesContext(connection) as few:
        root.see(LOG)
    for n in range(20):
        store("auth.logout", make_user(f"p{n}@example.com"))

    with CaptureQueriesContext(connection) as many:
        root.see(LOG)
    assert len(many) == len(few)


def test_filter_by_action_has_those_of_modules_that_are_not_installed(root, bob, monkeypatch):
    """The log still has the entries of a module that was removed."""
    core = {name: action for name, action in actions.ACTIONS.items() if "org." not in name}
    monkeypatch.setattr(actions, "ACTIONS", core)

    shown = root.see(LOG)

    assert 'action=org.created"' in shown
    assert 'action=auth.logout"' in shown
    assert 'action=nothing"' not in shown


# Confirmations


def act(browser, url, action, row):
    form = {"action": action, "_selected_action": [str(row.pk)]}
    return browser.send(url, **form).content.decode()


def test_action_that_ends_sessions_asks_first(root, api, ann):
    for url, action, row in (
        (listed("account"), "end_sessions", account()),
        (listed("session"), "end", Session.objects.get()),
    ):
        shown = act(root, url, action, row)

        assert f'name="action" value="{action}"' in shown
        assert f'name="_selected_action" value="{row.pk}"' in shown
        assert "csrfmiddlewaretoken" in shown
        assert api.get("me", token=ann["access_token"]).status == 200


def test_action_that_disables_the_second_factor_asks_first(root, enrolled):
    url = reverse("admin:authservice_twofactor_authenticator_changelist")

    shown = act(root, url, "disable", Authenticator.objects.get())

    assert 'name="confirmed" value="yes"' in shown
    assert Authenticator.objects.exists()


# Links and super admins


def test_rows_of_a_user_lead_to_the_support_page(root, enrolled):
    shop = Organization.objects.create(name="Shop", slug="shop")
    member = Membership.objects.create(organization=shop, user=the_user(), role="owner")
    link = f'<a href="{support_page()}">{ANN}</a>'

    for row in (Session.objects.latest("pk"), Authenticator.objects.get(), member):
        name = f"admin:{row._meta.app_label}_{row._meta.model_name}_changelist"
        assert link in root.see(reverse(name)), row
        assert link in root.see(page(row)), row


def test_superuser_is_shown_as_super_admin(root, ann):
    def icons():
        return root.see(listed("account"), q=ANN).split('field-super_admin">')[1][:60]

    assert "icon-no" in icons()
    change(ANN, is_superuser=True)
    assert "icon-yes" in icons()


def test_deletion_of_the_last_super_admin_says_why_it_is_refused(root):
    shown = root.see(page(the_user("root@example.com"), "delete"))

    assert errors.LastSuperAdmin.message in shown
