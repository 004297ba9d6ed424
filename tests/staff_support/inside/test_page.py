"""The contents of the support page: sections, links, permissions, secrets and costs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from authservice.core.credentials import passwords
from authservice.core.models import Account, AttemptCounter, Session
from authservice.invitation.models import PlatformInvitation
from authservice.oauth.models import LinkedAccount
from authservice.organization.models import Membership, Organization, OrganizationInvitation
from authservice.twofactor.models import Authenticator, BackupCode
from tests.admin.inside.conftest import Browser, page, staff
from tests.staff_support.inside.conftest import (
    ANN,
    account,
    lock_out,
    more_sessions,
    support_page,
)
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

# By the part that adds them: the user and account, sessions, factor, passkeys (their section, the
# obstacles and the button), links, memberships and invitations, log entries, locks and their
# addresses, the session of the member of staff, and the check that this session has not ended.
QUERIES = 22


def organizations(number):
    for n in range(number):
        shop = Organization.objects.create(name=f"Shop {n}", slug=f"shop-{n}")
        Membership.objects.create(organization=shop, user=the_user(), role="member")
        day = account().created_at
        invited = {"email": ANN, "email_key": account().email_key, "expires_at": day}
        inviter = the_user()
        OrganizationInvitation.objects.create(organization=shop, inviter=inviter, **invited)
        PlatformInvitation.objects.create(purpose=f"trial {n}", inviter=inviter, **invited)
        LinkedAccount.objects.create(
            user=the_user(),
            provider=f"provider-{n}",
            subject=f"subject-{n}",
            subject_key=f"{n:064x}",
            sealed_tokens="sealed-tokens-of-the-provider",
        )


@pytest.fixture
def factor(api, ann):
    return Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()


@pytest.fixture
def full(api, ann, factor):
    """Ann has rows of every kind."""
    organizations(2)
    lock_out(api)


def test_page_shows_the_rows_of_every_module_with_links(root, full):
    shown = root.see(support_page())

    rows = [
        Session.objects.latest("pk"),
        Authenticator.objects.get(),
        *LinkedAccount.objects.all(),
        *Organization.objects.all(),
        *Membership.objects.all(),
        *OrganizationInvitation.objects.all(),
        *PlatformInvitation.objects.all(),
        the_user(),
        account(),
    ]
    assert [row for row in rows if f'href="{page(row)}"' not in shown] == []
    log = reverse("admin:authservice_audit_entry_changelist")
    assert f'href="{log}?q={the_user().pk}"' in shown
    assert "auth.login.failed" in shown


def test_list_of_sessions_is_linked_and_shows_those_of_the_user_only(root, api, ann):
    api.sign_up("bob@example.com")
    more_sessions(12)
    link = f"{reverse('admin:authservice_core_session_changelist')}?user__exact={the_user().pk}"

    assert f'href="{link}"' in root.see(support_page())
    assert root.see(link).count('class="action-select"') == 13


def test_account_page_and_list_lead_to_the_support_page(root, ann):
    assert f'href="{support_page()}"' in root.see(page(account()))
    assert f'href="{support_page()}"' in root.see(
        reverse("admin:authservice_core_account_changelist")
    )


def test_links_to_pages_without_permission_are_texts(helper, full):
    shown = helper("view_account", "view_membership").see(support_page())

    assert "Shop 1" in shown
    assert f'href="{page(account())}"' in shown
    assert f'href="{page(Organization.objects.latest("pk"))}"' not in shown


SECTIONS = {
    "view_session": "Sessions",
    "view_authenticator": "Second factor",
    "view_linkedaccount": "Linked providers",
    "view_membership": "Organizations",
    "view_organizationinvitation": "Invitations to organizations",
    "view_platforminvitation": "Invitations",
    "view_entry": "Log entries",
}


def test_section_is_shown_with_its_permission_only(ann):
    for permission, title in SECTIONS.items():
        reader = Browser(staff(f"{permission}@example.com", "view_account", permission))
        shown = reader.see(support_page())

        assert [one for one in SECTIONS.values() if f"<h2>{one}</h2>" in shown] == [title]


def test_page_needs_the_permission_to_view_accounts(helper, ann):
    helper("view_session", "view_entry").see(support_page(), status=403)


def test_page_needs_staff(ann, api, client):
    client.force_login(the_user())

    assert client.get(support_page()).status_code == 302


@pytest.mark.parametrize("key", ["0", "x", "999999", "00000000-0000-0000-0000-000000000000"])
def test_unknown_account_has_no_page(root, ann, key):
    root.see(reverse("admin:authservice_core_account_support", args=[key]), status=404)


def test_page_shows_no_secret(root, full, ann):
    stored, session, factor = account(), Session.objects.earliest("pk"), Authenticator.objects.get()
    secrets = {
        "email key": stored.email_key,
        "seed": session.seed,
        "fingerprint": passwords.fingerprint(the_user().password),
        "password": the_user().password,
        "counter": AttemptCounter.objects.earliest("pk").key,
        "secret of the app": factor.sealed_secret,
        "backup code": BackupCode.objects.earliest("pk").digest,
        "tokens of a provider": "sealed-tokens-of-the-provider",
        "refresh token": ann["refresh_token"],
        "access token": ann["access_token"],
        "device": stored.device_ids,
    }
    shown = root.see(support_page())

    assert all(secrets.values())
    assert [name for name, value in secrets.items() if value in shown] == []


def queries(browser):
    with CaptureQueriesContext(connection) as asked:
        browser.see(support_page())
    return [query["sql"] for query in asked]


def test_number_of_queries_does_not_depend_on_the_rows(root, full, api):
    few = queries(root)
    organizations_before = Organization.objects.count()
    more_sessions(30)
    for n in range(2, 12):
        shop = Organization.objects.create(name=f"Shop {n}", slug=f"shop-{n}")
        Membership.objects.create(organization=shop, user=the_user(), role="member")
    for _ in range(20):
        api.post("login", email=ANN, password="wrong")

    many = queries(root)
    assert Organization.objects.count() > organizations_before
    assert (len(few), len(many)) == (QUERIES, QUERIES)


def test_reading_the_page_changes_nothing(root, full):
    def stored():
        models = (Account, Session, AttemptCounter, Authenticator)
        return [list(model.objects.order_by("pk").values()) for model in models]

    before = stored()
    root.see(support_page())

    assert stored() == before
