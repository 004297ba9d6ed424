"""The actions of staff on a list, and the permissions that they require."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import transaction

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Account, AttemptCounter, Session
from authservice.kernel import databases
from tests.admin.inside.conftest import listed, page
from tests.support.client import PASSWORD
from tests.support.modules import fillers
from tests.support.people import deactivate, the_user

pytestmark = pytest.mark.django_db

DEVICE_COOKIE = "authservice_device"
OVER = (401, "INVALID_TOKEN")


def account(email="ann@example.com"):
    return Account.objects.get(email=email)


def history(root, row):
    return root.see(page(row, "history"))


# Revoking sessions


def test_revoked_sessions_of_an_account_are_refused_at_once(root, api, ann):
    bob = api.sign_up("bob@example.com")

    output = root.act("account", "end_sessions", account()).content.decode()

    assert "Sessions ended: 1. Accounts: 1." in output
    assert api.get("me", token=ann["access_token"]).error == OVER
    assert api.get("me", token=bob["access_token"]).status == 200


def test_revoking_sessions_of_an_account_raises_the_token_version(root, ann):
    root.act("account", "end_sessions", account())

    assert account().token_version == 1


def test_revoking_sessions_is_in_the_history_of_the_account(root, ann):
    root.act("account", "end_sessions", account())

    assert "Ended all sessions." in history(root, account())


def test_revoking_sessions_is_recorded_as_action_of_staff(root, ann, recorded):
    root.act("account", "end_sessions", account())

    (event,) = recorded("security.session.revoked")
    assert (event.user, event.target, event.actor_type) == (root.user, the_user(), "admin")


def test_revoking_one_session_keeps_the_others(root, api, ann):
    other = api.log_in()
    newest = Session.objects.latest("created_at")

    root.act("session", "end", newest)

    assert api.get("me", token=other["access_token"]).error == OVER
    assert api.get("me", token=ann["access_token"]).status == 200


def test_revoking_an_ended_session_does_nothing(root, ann, recorded):
    root.act("session", "end", Session.objects.get())
    ended = Session.objects.get().ended_at

    output = root.act("session", "end", Session.objects.get()).content.decode()

    assert "Ended 0 sessions." in output
    assert Session.objects.get().ended_at == ended
    assert len(recorded("security.session.revoked")) == 1


def test_revoking_a_session_is_in_its_history(root, ann):
    root.act("session", "end", Session.objects.get())

    assert "Ended." in history(root, Session.objects.get())


def delete(root, session):
    root.send(page(session, "delete"), post="yes")


def delete_selected(root, session):
    chosen = {"action": "delete_selected", "_selected_action": [str(session.pk)], "post": "yes"}
    root.send(listed("session"), **chosen)


@pytest.mark.parametrize("way", [delete, delete_selected])
def test_deleting_a_session_is_recorded_as_its_end(root, api, ann, recorded, way):
    way(root, Session.objects.get())

    assert not Session.objects.exists()
    assert api.get("me", token=ann["access_token"]).error == OVER
    (event,) = recorded("security.session.revoked")
    assert (event.user, event.target, event.actor_type) == (root.user, the_user(), "admin")


# Unlocking


def lock_out(api, **headers):
    for _ in range(BUDGET.limit + 1):
        answer = api.post("login", email="ann@example.com", password="wrong", headers=headers)
    return answer.status


def test_unlocked_user_can_log_in(root, api, ann):
    assert lock_out(api) == 429

    root.act("account", "unlock", account())

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200


def test_unlocking_includes_the_devices_of_the_user(root, api, ann):
    answer = api.post("login", email="ann@example.com", password=PASSWORD)
    device = {"X-Device-Token": answer.response.cookies[DEVICE_COOKIE].value}
    assert lock_out(api, **device) == 429

    root.act("account", "unlock", account())

    answer = api.post("login", email="ann@example.com", password=PASSWORD, headers=device)
    assert answer.status == 200


def test_unlocking_includes_the_password_change(root, api, ann):
    body = {"old_password": "wrong", "new_password": "another plum tart 42"}
    token = ann["access_token"]
    for _ in range(BUDGET.limit + 1):
        answer = api.request("PUT", "change-password", body, token=token)
    assert answer.status == 429

    root.act("account", "unlock", account())

    assert api.request("PUT", "change-password", body, token=token).code == "INVALID_CREDENTIALS"


def test_unlocking_does_not_affect_other_users(root, api, ann):
    lock_out(api)
    api.sign_up("bob@example.com")
    before = AttemptCounter.objects.count()

    root.act("account", "unlock", account("bob@example.com"))

    assert AttemptCounter.objects.count() == before


def test_unlocking_is_in_the_history_of_the_account(root, ann):
    root.act("account", "unlock", account())

    assert "Unlocked." in history(root, account())


def test_unlocking_says_how_many_accounts_were_locked_and_is_recorded(root, api, ann, recorded):
    api.sign_up("bob@example.com")
    lock_out(api)

    output = root.act("account", "unlock", account(), account("bob@example.com"))

    assert "Unlocked 1 account. All" in output.content.decode()
    events = {event.target.pk: event.metadata for event in recorded("admin.user.unlocked")}
    assert events == {
        account().pk: {"locked": 1},
        account("bob@example.com").pk: {"locked": 0},
    }


# Resending


@pytest.fixture
def messenger(settings):
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.support.modules.apps.Messenger"]
    yield fillers.sent
    fillers.sent.clear()


def test_verification_mail_is_resent(root, messenger, ann, django_capture_on_commit_callbacks):
    messenger.clear()
    with django_capture_on_commit_callbacks(execute=True):
        output = root.act("account", "resend_verification", account()).content.decode()

    assert "Sent to 1 account that" in output
    assert [(job.kind, job.target) for job in messenger] == [("verify-email", "ann@example.com")]


def test_verification_mail_is_resent_once_the_database_of_the_users_commits(
    root, messenger, ann, monkeypatch
):
    used = []
    monkeypatch.setattr(transaction, "on_commit", lambda function, using=None: used.append(using))

    root.act("account", "resend_verification", account())

    assert used == [databases.primary()]


@pytest.mark.parametrize("state", ["verified", "inactive"])
def test_verification_mail_is_not_resent_to_verified_or_inactive_user(
    root, messenger, ann, django_capture_on_commit_callbacks, state
):
    if state == "verified":
        Account.objects.filter(pk=account().pk).update(verified_email_key=account().email_key)
    else:
        deactivate()
    messenger.clear()
    with django_capture_on_commit_callbacks(execute=True):
        root.act("account", "resend_verification", account())

    assert messenger == []


def test_resending_without_messenger_reports_that_nothing_was_sent(root, ann):
    output = root.act("account", "resend_verification", account()).content.decode()

    assert "Nothing was sent" in output
    assert not LogEntry.objects.exists()


# Permissions


@pytest.mark.parametrize("action", ["end_sessions", "resend_verification", "unlock"])
def test_view_permission_on_accounts_allows_no_action(helper, api, ann, action):
    browser = helper("view_account")

    browser.act("account", action, account())

    assert action not in browser.see(listed("account"))
    assert api.get("me", token=ann["access_token"]).status == 200
    assert not LogEntry.objects.exists()


def test_view_permission_on_sessions_does_not_allow_revoking(helper, api, ann):
    browser = helper("view_session")

    browser.act("session", "end", Session.objects.get())

    assert api.get("me", token=ann["access_token"]).status == 200


def test_change_permission_on_accounts_allows_revoking_their_sessions(helper, api, ann):
    helper("change_account").act("account", "end_sessions", account())

    assert api.get("me", token=ann["access_token"]).error == OVER


def test_change_permission_on_sessions_allows_revoking_them(helper, api, ann):
    helper("change_session").act("session", "end", Session.objects.get())

    assert api.get("me", token=ann["access_token"]).error == OVER
