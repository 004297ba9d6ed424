"""The contents, permissions and query counts of the pages, and the secrets that they never show."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from authservice.core.credentials import attempt_counter, passwords
from authservice.core.models import Account, AttemptCounter, OneTimeToken, Session
from authservice.kernel.clock import uuid7
from tests.admin.inside.conftest import listed, page
from tests.support.people import has, the_user

pytestmark = pytest.mark.django_db

MODELS = ("account", "session", "onetimetoken", "attemptcounter")
ROWS = {"account": Account, "session": Session, "onetimetoken": OneTimeToken}


def queries(browser, model):
    with CaptureQueriesContext(connection) as asked:
        browser.see(listed(model))
    return len(asked)


@pytest.mark.parametrize("model", MODELS)
def test_list_of_fifty_rows_costs_as_many_queries_as_one_row(root, many, model):
    many(1)
    one = queries(root, model)
    Account.objects.all().delete()
    Session.objects.all().delete()
    OneTimeToken.objects.all().delete()
    AttemptCounter.objects.all().delete()
    the_user("p0@example.com").delete()

    many(50)

    assert queries(root, model) == one


@pytest.fixture
def secrets(ann, api):
    """The stored values of Ann that no page may show, by name."""
    api.post("login", email="unknown@example.com", password="wrong")
    account, session = Account.objects.get(email="ann@example.com"), Session.objects.get()
    fingerprint = passwords.fingerprint(the_user().password)
    one_time_token = OneTimeToken.objects.create(
        id=uuid7(),
        user=the_user(),
        purpose="magic-link",
        digest="d1" * 32,
        code_digest="c0" * 32,
        target_key=account.email_key,
        payload={"verifier": "a-sealed-payload"},
        password_fingerprint=fingerprint,
        expires_at=session.expires_at,
    )
    found = {
        "email key": account.email_key,
        "phone key": account.phone_key,
        "seed": session.seed,
        "fingerprint": fingerprint,
        "digest": one_time_token.digest,
        "code digest": one_time_token.code_digest,
        "payload": "a-sealed-payload",
        "password": the_user().password,
        "refresh token": ann["refresh_token"],
    }
    if account.username_key:
        found["username key"] = account.username_key
    return {**found, "counter": AttemptCounter.objects.get().key}


def every_page(root):
    """Each list, form, history and confirmation page."""
    yield root.see(reverse("admin:index"))
    for model in MODELS:
        yield root.see(listed(model))
        yield root.see(reverse("admin:app_list", args=["authservice_core"]))
    for model in (Account, Session, OneTimeToken):
        for row in model.objects.all():
            yield root.see(page(row))
            yield root.see(page(row, "history"))
    for row in (Session.objects.get(), OneTimeToken.objects.get()):
        yield root.see(page(row, "delete"))
    yield root.act("session", "delete_selected", Session.objects.get()).content.decode()
    yield root.see(page(the_user()))
    yield root.see(page(the_user(), "delete"))


def test_no_page_shows_a_key_digest_seed_or_fingerprint(root, secrets):
    root.act("account", "end_sessions", Account.objects.get(email="ann@example.com"))
    root.act("account", "unlock", Account.objects.get(email="ann@example.com"))
    shown = list(every_page(root))

    assert [name for name, value in secrets.items() if any(value in text for text in shown)] == []


def test_no_history_entry_contains_a_secret(root, secrets):
    account = Account.objects.get(email="ann@example.com")
    root.act("account", "end_sessions", account)
    root.send(page(account), name="Ann", phone_number="+4930123457", avatar="")

    kept = [f"{e.object_id} {e.object_repr} {e.change_message}" for e in LogEntry.objects.all()]
    assert kept
    assert [name for name, value in secrets.items() if any(value in text for text in kept)] == []


def test_attempt_counter_has_no_page_since_its_url_would_contain_its_key(root):
    attempt_counter.consume("ann", attempt_counter.PASSWORD)

    answer = root._client.get(page(AttemptCounter.objects.get()))
    assert answer.status_code in (302, 403)


def test_account_search_finds_part_of_the_address(root, ann, api):
    api.sign_up("bob@example.com")

    shown = root.see(listed("account"), q="ANN@exam")

    assert "ann@example.com" in shown
    assert "bob@example.com" not in shown


def test_session_search_finds_the_address_of_its_user(root, ann, api):
    api.sign_up("bob@example.com")
    ids = {str(s.pk): s.user_id for s in Session.objects.all()}

    shown = root.see(listed("session"), q="bob@")

    assert [owner for pk, owner in ids.items() if pk in shown] == [the_user("bob@example.com").pk]


FILTERS = [
    ("account", "email_verified", "yes", 0),
    ("account", "email_verified", "no", 2),
    ("account", "super_admin", "yes", 1),
    ("account", "super_admin", "no", 1),
    ("account", "user__is_active__exact", "1", 2),
    ("account", "user__is_active__exact", "0", 0),
    ("session", "state", "open", 1),
    ("session", "state", "ended", 0),
    ("session", "state", "expired", 0),
    ("onetimetoken", "state", "open", 0),
    ("onetimetoken", "state", "used", 0),
    ("onetimetoken", "purpose", "verify-email", 0),
]


@pytest.mark.parametrize(("model", "name", "value", "found"), FILTERS)
def test_list_is_filtered(root, ann, model, name, value, found):
    shown = root.see(listed(model), **{name: value})

    assert shown.count('class="action-select"') == found


def test_account_filter_finds_verified_address(root, ann):
    account = Account.objects.get(email="ann@example.com")
    Account.objects.filter(pk=account.pk).update(verified_email_key=account.email_key)

    shown = root.see(listed("account"), email_verified="yes")

    assert shown.count('class="action-select"') == 1


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, "open"),
        ({"ended_at": "2020-01-01T00:00:00Z"}, "ended"),
        ({"idle_expires_at": "2020-01-01T00:00:00Z"}, "expired"),
        ({"password_fingerprint": "another"}, "void"),
    ],
)
def test_session_state_matches_the_validity_of_its_tokens(root, ann, change, state):
    Session.objects.update(**change)

    assert f'class="field-state">{state}' in root.see(listed("session"))


# Read-only rows


@pytest.mark.parametrize("model", MODELS)
def test_rows_cannot_be_added_in_admin(root, model):
    root.see(reverse(f"admin:authservice_core_{model}_add"), status=403)


@pytest.mark.parametrize("model", [Session, OneTimeToken])
def test_sessions_and_one_time_tokens_cannot_be_changed_in_admin(root, many, model):
    many(1)
    row = model.objects.get()

    assert root.send(page(row), end_reason="x", attempts="0").status_code == 403
    assert 'name="_save"' not in root.see(page(row))


def test_account_cannot_be_deleted_without_its_user(root, ann):
    root.see(page(Account.objects.get(email="ann@example.com"), "delete"), status=403)

    assert "delete_selected" not in root.see(listed("account"))


def test_delete_permission_on_users_includes_accounts_and_sessions(helper, ann):
    user = the_user()
    name = user._meta.model_name
    browser = helper(f"delete_{name}", f"view_{name}")

    browser.send(page(user, "delete"), post="yes")

    assert not Account.objects.filter(email="ann@example.com").exists()
    assert not Session.objects.exists()


def test_view_permission_on_sessions_does_not_allow_deleting(helper, ann):
    helper("view_session").see(page(Session.objects.get(), "delete"), status=403)


def test_staff_without_permission_see_no_list(helper, ann):
    browser = helper()
    for model in MODELS:
        browser.see(listed(model), status=403)


def test_search_for_unusual_text_is_not_a_5xx(root, ann):
    for model in ("account", "session", "onetimetoken"):
        for text in ("é%_'\"", "0", "-1", "00000000-0000-0000-0000-000000000000"):
            root.see(listed(model), q=text)


def test_list_of_one_time_tokens_shows_the_users(root, many):
    many(1)

    assert str(the_user("p0@example.com")) in root.see(listed("onetimetoken"))


@pytest.mark.skipif(not has("username"), reason="its users have no username")
def test_account_search_finds_username(root, api):
    api.sign_up("ann@example.com", username="anna-1")

    assert "anna-1" in root.see(listed("account"), q="anna-")


@pytest.mark.parametrize("key", ["%00", "a%00b"])
@pytest.mark.parametrize(("view", "status"), [("change", 302), ("delete", 403), ("history", 302)])
def test_counter_with_a_nul_character_in_its_key_does_not_exist(root, key, view, status):
    """PostgreSQL raises an error for such a parameter of a query."""
    root.see(f"{listed('attemptcounter')}{key}/{view}/", status=status)
