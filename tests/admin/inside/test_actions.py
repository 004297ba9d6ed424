"""What staff can do from a list, and who of them."""

import pytest
from django.contrib.admin.models import LogEntry

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Account, AttemptCounter, Session
from tests.admin.inside.conftest import listed, page
from tests.client import PASSWORD
from tests.people import deactivate, the_user
from tests.plugs import fillers

pytestmark = pytest.mark.django_db

DEVICE_COOKIE = "authservice_device"
OVER = (401, "INVALID_TOKEN")


def account(email="ann@example.com"):
    return Account.objects.get(email=email)


def history(root, row):
    return root.see(page(row, "history"))


# Ending sign-ins


def test_ending_all_sign_ins_of_an_account_is_felt_at_once(root, api, ann):
    bob = api.sign_up("bob@example.com")

    said = root.act("account", "end_sign_ins", account()).content.decode()

    assert "Ended 1 sign-ins of 1 accounts." in said
    assert api.get("me", token=ann["access_token"]).error == OVER
    assert api.get("me", token=bob["access_token"]).status == 200


def test_it_raises_the_version_of_tokens(root, ann):
    root.act("account", "end_sign_ins", account())

    assert account().token_version == 1


def test_it_is_in_the_history_of_the_account(root, ann):
    root.act("account", "end_sign_ins", account())

    assert "Ended all sign-ins." in history(root, account())


def test_it_is_told_as_done_by_staff(root, ann, told):
    root.act("account", "end_sign_ins", account())

    (event,) = told("security.session.revoked")
    assert (event.user, event.target, event.actor_type) == (root.user, the_user(), "admin")


def test_ending_one_sign_in_leaves_the_others(root, api, ann):
    other = api.log_in()
    newest = Session.objects.latest("created_at")

    root.act("session", "end", newest)

    assert api.get("me", token=other["access_token"]).error == OVER
    assert api.get("me", token=ann["access_token"]).status == 200


def test_ending_one_that_has_ended_does_nothing(root, ann, told):
    root.act("session", "end", Session.objects.get())
    ended = Session.objects.get().ended_at

    said = root.act("session", "end", Session.objects.get()).content.decode()

    assert "Ended 0 sign-ins." in said
    assert Session.objects.get().ended_at == ended
    assert len(told("security.session.revoked")) == 1


def test_the_end_of_a_sign_in_is_in_its_history(root, ann):
    root.act("session", "end", Session.objects.get())

    assert "Ended." in history(root, Session.objects.get())


# Unlocking


def lock_out(api, **headers):
    for _ in range(BUDGET.limit + 1):
        answer = api.post("login", email="ann@example.com", password="wrong", headers=headers)
    return answer.status


def test_unlocking_lets_its_owner_in_again(root, api, ann):
    assert lock_out(api) == 429

    root.act("account", "unlock", account())

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200


def test_it_unlocks_a_device_of_the_owner_too(root, api, ann):
    answer = api.post("login", email="ann@example.com", password=PASSWORD)
    device = {"X-Device-Token": answer.response.cookies[DEVICE_COOKIE].value}
    assert lock_out(api, **device) == 429

    root.act("account", "unlock", account())

    answer = api.post("login", email="ann@example.com", password=PASSWORD, headers=device)
    assert answer.status == 200


def test_it_unlocks_the_change_of_the_password(root, api, ann):
    body = {"old_password": "wrong", "new_password": "another plum tart 42"}
    token = ann["access_token"]
    for _ in range(BUDGET.limit + 1):
        answer = api.request("PUT", "change-password", body, token=token)
    assert answer.status == 429

    root.act("account", "unlock", account())

    assert api.request("PUT", "change-password", body, token=token).code == "INVALID_CREDENTIALS"


def test_it_unlocks_nobody_else(root, api, ann):
    lock_out(api)
    api.sign_up("bob@example.com")
    before = AttemptCounter.objects.count()

    root.act("account", "unlock", account("bob@example.com"))

    assert AttemptCounter.objects.count() == before


def test_it_is_in_the_history(root, ann):
    root.act("account", "unlock", account())

    assert "Unlocked." in history(root, account())


# Resending


@pytest.fixture
def messenger(settings):
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.plugs.apps.Messenger"]
    yield fillers.sent
    fillers.sent.clear()


def test_a_verification_mail_is_sent_again(
    root, messenger, ann, django_capture_on_commit_callbacks
):
    messenger.clear()
    with django_capture_on_commit_callbacks(execute=True):
        said = root.act("account", "resend_verification", account()).content.decode()

    assert "Sent to 1 accounts" in said
    assert [(job.kind, job.target) for job in messenger] == [("verify-email", "ann@example.com")]


@pytest.mark.parametrize("state", ["verified", "inactive"])
def test_nobody_is_written_to_who_could_not_verify(
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


def test_without_anybody_who_sends_it_says_so(root, ann):
    said = root.act("account", "resend_verification", account()).content.decode()

    assert "Nothing was sent" in said
    assert not LogEntry.objects.exists()


# Who may


@pytest.mark.parametrize("action", ["end_sign_ins", "resend_verification", "unlock"])
def test_who_may_only_look_at_accounts_may_do_nothing(helper, api, ann, action):
    browser = helper("view_account")

    browser.act("account", action, account())

    assert action not in browser.see(listed("account"))
    assert api.get("me", token=ann["access_token"]).status == 200
    assert not LogEntry.objects.exists()


def test_who_may_only_look_at_sign_ins_may_end_none(helper, api, ann):
    browser = helper("view_session")

    browser.act("session", "end", Session.objects.get())

    assert api.get("me", token=ann["access_token"]).status == 200


def test_who_may_change_accounts_may_end_their_sign_ins(helper, api, ann):
    helper("change_account").act("account", "end_sign_ins", account())

    assert api.get("me", token=ann["access_token"]).error == OVER


def test_who_may_change_sign_ins_may_end_them(helper, api, ann):
    helper("change_session").act("session", "end", Session.objects.get())

    assert api.get("me", token=ann["access_token"]).error == OVER
