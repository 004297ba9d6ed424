"""The pages of Django admin that list passkeys and remove them from accounts."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.test import TestCase
from django.urls import reverse

from authservice.core.models import Session
from authservice.kernel.levels import Record
from authservice.passkeys import own_passkeys
from authservice.passkeys.models import Handle, Passkey
from tests.admin.inside.conftest import page
from tests.support.people import change, the_user

pytestmark = pytest.mark.django_db
LIST = "admin:authservice_passkeys_passkey_changelist"
GONE = (401, "INVALID_TOKEN")


def remove(browser, **form):
    chosen = [str(pk) for pk in Passkey.objects.values_list("pk", flat=True)]
    form = {"action": "remove", "_selected_action": chosen, "confirmed": "yes", **form}
    with TestCase.captureOnCommitCallbacks(execute=True):
        return browser.send(reverse(LIST), **form).content.decode()


def test_pages_show_the_passkey_and_neither_its_id_nor_its_key(root, ann):
    ann.enrol(name="Phone")
    row = Passkey.objects.get()

    shown = root.see(reverse(LIST)) + root.see(page(row))

    assert shown.count("Phone") >= 2
    assert [text for text in (row.credential_id, row.public_key) if text in shown] == []


def test_list_can_be_searched_by_address(root, ann):
    ann.enrol()

    assert "1 passkey" in root.see(reverse(LIST), q=ann.email)
    assert "0 passkeys" in root.see(reverse(LIST), q="bob@example.com")


def test_staff_with_view_permission_only_remove_nothing(helper, ann):
    ann.enrol()
    browser = helper("view_passkey")

    remove(browser)

    assert Passkey.objects.count() == 1
    assert "remove" not in re.findall(r'<option value="(\w+)"', browser.see(reverse(LIST)))


def test_staff_with_the_permission_remove_passkeys(helper, ann):
    ann.enrol()

    assert "Removed 1 passkey." in remove(helper("view_passkey", "change_passkey"))

    assert not Passkey.objects.exists()


def test_only_a_superuser_removes_the_passkey_of_a_superuser(helper, root, ann):
    ann.enrol()
    change(ann.email, is_superuser=True)

    remove(helper("view_passkey", "change_passkey"))
    assert Passkey.objects.count() == 1

    remove(root)
    assert not Passkey.objects.exists()


def test_superuser_removes_the_passkeys_of_several_users(root, ann, bob):
    for holder in (ann, ann, bob):
        holder.enrol()

    assert "Removed 3 passkeys." in remove(root)

    assert not Passkey.objects.exists()
    assert ann.get("me").status == bob.get("me").status == 200


def test_removal_must_be_confirmed(root, ann):
    ann.enrol()

    assert "Are you sure?" in remove(root, confirmed="")

    assert Passkey.objects.count() == 1


def test_proofs_by_the_passkey_are_withdrawn_and_its_logins_end(root, ann):
    ann.enrol()
    begun_with_passkey = ann.log_in().data["access_token"]
    ann.step_up()

    remove(root)

    assert ann.api.get("me", token=begun_with_passkey).error == GONE
    assert ann.get("me").status == 200
    session = Session.objects.get(ended_at=None)
    assert (session.amr, [event.level for event in Record(session.levels)]) == ("pwd", ["aal1"])


def test_session_that_used_a_key_as_second_factor_ends(root, ann, bob):
    ann.enrol(second_factor=True)
    bob.enrol()

    remove(root)

    assert ann.get("me").error == GONE
    assert bob.get("me").status == 200


def test_removal_is_recorded_as_one_by_staff(root, ann, events):
    added = ann.enrol(name="Phone")

    remove(root)

    (event,) = events("auth.passkey.removed")
    assert (event.user, event.target, event.actor_type) == (root.user, the_user(ann.email), "admin")
    assert event.metadata == {"passkey": added["id"], "name": "Phone"}
    entry = LogEntry.objects.get()
    assert (entry.user, entry.change_message) == (root.user, "Removed.")
    assert entry.object_id == added["id"]


def test_owner_is_notified_of_the_removal(root, ann, post):
    ann.enrol(name="Phone")
    post.jobs.clear()

    remove(root)

    (job,) = post.jobs
    assert (job.kind, job.target) == (own_passkeys.MAIL_REMOVED, ann.email)


@pytest.mark.parametrize("action", ["add", "delete"])
def test_passkey_is_neither_added_nor_deleted_by_hand(root, ann, action):
    ann.enrol()
    given = [Passkey.objects.get().pk] if action == "delete" else []

    root.see(reverse(f"admin:authservice_passkeys_passkey_{action}", args=given), status=403)


def test_user_with_a_passkey_can_be_deleted(helper, ann):
    ann.enrol()

    helper("view_user", "delete_user").send(page(the_user(ann.email), "delete"), post="yes")

    assert not Passkey.objects.exists()
    assert not Handle.objects.exists()
