"""The list of passkeys, their names, their use as a second factor, and their removal."""

import pytest

from authservice.core.models import Session
from authservice.core.users import lookup
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.levels import Record
from authservice.kernel.modules import plugged
from authservice.passkeys.models import Passkey
from authservice.passkeys.passkey_login import account_access
from tests.passkeys.authenticator import UP, Authenticator

pytestmark = pytest.mark.django_db
MISSING = (404, "PASSKEY_NOT_FOUND")
UNKNOWN_ID = "00000000-0000-0000-0000-000000000000"


def without_password(email="ann@example.com"):
    user = lookup.find_by_email(email).user
    Session.objects.filter(user=user.pk)
    user.set_unusable_password()
    user.save()


def test_list_has_the_oldest_first(ann, bob):
    names = [ann.enrol(name=name)["name"] for name in ("Phone", "Key", "Laptop")]
    bob.enrol(name="Other")

    answer = ann.get("passkeys")

    assert [one["name"] for one in answer.data] == names
    assert answer.headers["X-Total-Count"] == "3"


def test_list_can_be_cut(ann):
    for name in ("Phone", "Key", "Laptop"):
        ann.enrol(name=name)

    answer = ann.get("passkeys?offset=1&limit=1")

    assert [one["name"] for one in answer.data] == ["Key"]
    assert answer.headers["X-Total-Count"] == "3"


def test_list_says_when_a_passkey_was_used(ann):
    ann.enrol()
    assert ann.get("passkeys").data[0]["last_used_at"] is None

    ann.log_in()

    assert ann.get("passkeys").data[0]["last_used_at"]


def test_passkey_is_renamed(ann, events):
    added = ann.enrol(name="Phone")

    changed = ann.put(f"passkeys/{added['id']}", name="Old phone")

    assert changed.data["name"] == "Old phone"
    (event,) = events("auth.passkey.renamed")
    assert event.metadata["name"] == {"before": "Phone", "after": "Old phone"}


def test_same_name_is_no_change(ann, events):
    added = ann.enrol(name="Phone")

    ann.put(f"passkeys/{added['id']}", name="Phone")

    assert events("auth.passkey.renamed") == []


def test_old_login_may_rename_but_not_change_the_second_factor(ann, clock):
    added = ann.enrol()
    clock.forward(minutes=11)

    assert ann.put(f"passkeys/{added['id']}", name="Phone").status == 200
    refused = ann.put(f"passkeys/{added['id']}", second_factor=True)
    assert refused.error == (401, "STEP_UP_REQUIRED")


def test_passkey_becomes_a_second_factor_and_ends_other_sessions(ann, api):
    added = ann.enrol()
    other = api.log_in()["access_token"]

    changed = ann.put(f"passkeys/{added['id']}", second_factor=True)

    assert changed.data["second_factor"] is True
    assert api.get("me", token=other).error == (401, "INVALID_TOKEN")
    assert ann.get("me").status == 200


def test_passkey_stops_being_a_second_factor(ann, events):
    added = ann.enrol(second_factor=True)
    ann.token = ann.log_in().data["access_token"]

    changed = ann.put(f"passkeys/{added['id']}", second_factor=False)

    assert changed.data["second_factor"] is False
    assert [event.action for event in events("auth.passkey.factor")] == ["auth.passkey.factor_off"]


def test_bare_key_stays_a_second_factor(ann):
    ann.device = Authenticator(flags=UP)
    added = ann.enrol(second_factor=True)
    passkey = Authenticator()
    ann.device = passkey
    Passkey.objects.update(second_factor=False)
    ann.enrol()
    ann.token = ann.log_in().data["access_token"]
    Passkey.objects.filter(pk=added["id"]).update(second_factor=True)

    answer = ann.put(f"passkeys/{added['id']}", second_factor=False)

    assert answer.error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("passkey_id", [UNKNOWN_ID, "x", "ABC"])
def test_unknown_passkey_is_not_found(ann, passkey_id):
    assert ann.put(f"passkeys/{passkey_id}", name="Phone").error == MISSING
    assert ann.delete(f"passkeys/{passkey_id}").error == MISSING


def test_passkey_of_another_user_is_not_found(ann, bob):
    added = ann.enrol()

    assert bob.put(f"passkeys/{added['id']}", name="Phone").error == MISSING
    assert bob.delete(f"passkeys/{added['id']}").error == MISSING
    assert Passkey.objects.count() == 1


class TestRemoval:
    def test_removed_passkey_is_unknown(self, ann):
        added = ann.enrol()
        begun = ann.login_options()

        assert ann.delete(f"passkeys/{added['id']}").status == 200

        from_before = ann.sign(begun)
        answer = ann.api.post(
            "passkeys/login", request_token=begun["request_token"], credential=from_before
        )
        assert answer.error == (401, "PASSKEY_UNKNOWN")

    def test_old_login_must_be_confirmed(self, ann, clock):
        added = ann.enrol()
        clock.forward(minutes=11)

        assert ann.delete(f"passkeys/{added['id']}").error == (401, "STEP_UP_REQUIRED")
        assert Passkey.objects.count() == 1

    def test_last_way_to_log_in_stays(self, ann):
        added = ann.enrol()
        without_password()
        ann.token = ann.log_in().data["access_token"]

        with plugged("account_access", account_access):
            answer = ann.delete(f"passkeys/{added['id']}")

        assert answer.error == (400, "LAST_LOGIN_METHOD")
        assert Passkey.objects.count() == 1

    def test_last_but_one_way_is_removed(self, ann):
        added = ann.enrol()
        ann.enrol()
        without_password()
        ann.token = ann.log_in().data["access_token"]

        with plugged("account_access", account_access):
            assert ann.delete(f"passkeys/{added['id']}").status == 200

    def test_other_module_may_be_the_other_way(self, ann):
        class MailedLink(AccountAccess):
            def can_log_in(self, person):
                return True

        added = ann.enrol()
        without_password()
        ann.token = ann.log_in().data["access_token"]

        with plugged("account_access", MailedLink()):
            assert ann.delete(f"passkeys/{added['id']}").status == 200

    def test_proofs_by_passkeys_count_no_more(self, ann):
        added = ann.enrol()
        ann.token = ann.log_in().data["access_token"]
        session = Session.objects.latest("created_at")
        assert session.levels.startswith("phr")

        ann.delete(f"passkeys/{added['id']}")

        session.refresh_from_db()
        assert list(Record(session.levels)) == []
        assert session.amr == ""
        assert ann.post("passkeys/options").status in (401, 403)

    def test_removal_is_recorded(self, ann, events):
        added = ann.enrol(name="Phone")

        ann.delete(f"passkeys/{added['id']}")

        (event,) = events("auth.passkey.removed")
        assert event.metadata == {"passkey": added["id"], "name": "Phone"}


class TestSignals:
    def test_signals_list_what_the_browser_should_know(self, ann):
        added = ann.enrol()
        stored = Passkey.objects.get(pk=added["id"])

        assert ann.get("passkeys/signals").data == {
            "rp_id": "testserver",
            "user_id": ann.device.credentials[0].handle,
            "all_accepted_credential_ids": [stored.credential_id],
            "name": "ann@example.com",
            "display_name": "ann@example.com",
        }

    def test_signals_of_a_user_without_passkeys_are_empty(self, ann):
        signals = ann.get("passkeys/signals").data

        assert (signals["user_id"], signals["all_accepted_credential_ids"]) == ("", [])
