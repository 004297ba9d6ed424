"""The owner gets a mail about each change that an intruder could make."""

import time

import pyotp
import pytest
import time_machine
from django.test import TestCase

from authservice.core.users import lookup
from authservice.passkeys import own_passkeys
from authservice.passkeys.models import Passkey
from authservice.twofactor import enrolment
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


def test_added_passkey_is_announced(ann, post):
    ann.enrol(name="Phone")

    (job,) = post.jobs
    assert (job.kind, job.target) == (own_passkeys.MAIL_ADDED, ann.email)
    assert job.details["passkey"] == "Phone"
    assert post.link(own_passkeys.MAIL_ADDED)


def test_removed_passkey_is_announced(ann, post):
    added = ann.enrol(name="Phone")

    ann.delete(f"passkeys/{added['id']}")

    assert post.jobs[-1].kind == own_passkeys.MAIL_REMOVED
    assert post.jobs[-1].details["passkey"] == "Phone"
    assert post.link(own_passkeys.MAIL_REMOVED)


def test_change_of_the_second_factor_is_announced(ann, post):
    added = ann.enrol()
    ann.put(f"passkeys/{added['id']}", second_factor=True)
    ann.token = ann.log_in().data["access_token"]
    ann.put(f"passkeys/{added['id']}", second_factor=False)

    kinds = [kind for kind in post.kinds() if "factor" in kind]
    assert kinds == [own_passkeys.MAIL_FACTOR_ON, own_passkeys.MAIL_FACTOR_OFF]


def test_new_name_is_not_announced(ann, post):
    added = ann.enrol()
    post.jobs.clear()

    ann.put(f"passkeys/{added['id']}", name="Phone")

    assert post.jobs == []


def test_refused_passkey_is_not_announced(ann, post):
    begun = ann.options()
    ann.add(ann.device.create(begun["options"], rp_id="evil.example"), begun=begun)

    assert post.jobs == []


def test_removal_by_staff_is_announced_without_the_client(ann, post, api):
    ann.enrol(name="Phone")
    signed_in = ann.log_in().data["access_token"]
    post.jobs.clear()
    person = lookup.find_by_email(ann.email)

    with TestCase.captureOnCommitCallbacks(execute=True):
        removed = own_passkeys.remove_by_staff(
            person, Passkey.objects.all(), by=make_user("eve@example.com")
        )

    assert [row.name for row in removed] == ["Phone"]
    (job,) = post.jobs
    assert (job.kind, job.details) == (
        own_passkeys.MAIL_REMOVED,
        {"by": "staff", "passkey": "Phone"},
    )
    assert api.get("me", token=signed_in).error == (401, "INVALID_TOKEN")
    assert ann.get("me").status == 200


@pytest.mark.parametrize("by", ["user", "staff"])
@pytest.mark.parametrize(
    ("passkey", "required", "remaining"),
    [
        ({"second_factor": True}, {}, "factor"),
        ({"second_factor": False}, {}, ""),
        ({"second_factor": False}, {"REQUIRED": "everybody"}, "factor"),
        (None, {"REQUIRED": "everybody"}, "set-up"),
    ],
)
def test_mail_about_a_removed_app_says_what_a_login_still_asks_for(
    ann, post, configure, by, passkey, required, remaining
):
    if passkey:
        ann.enrol(**passkey)
    if remaining and passkey:
        ann.step_up()
    app = pyotp.TOTP(ann.post("2fa/setup").data["secret"])
    assert ann.post("2fa/verify", code=app.now()).status == 200
    configure(TWOFACTOR=required)

    if by == "user":
        with time_machine.travel(time.time() + 60):
            assert ann.post("2fa/disable", code=app.at(time.time())).status == 200
    else:
        with TestCase.captureOnCommitCallbacks(execute=True):
            enrolment.remove(lookup.find_by_email(ann.email))

    assert post.jobs[-1].kind == enrolment.MAIL_DISABLED
    assert post.jobs[-1].details["remaining"] == remaining


def test_removal_of_a_second_factor_by_staff_ends_all_sessions(ann):
    """A thief who knew the password had logged in with the key as its second factor."""
    ann.enrol(second_factor=True)

    own_passkeys.remove_by_staff(
        lookup.find_by_email(ann.email), Passkey.objects.all(), by=make_user("eve@example.com")
    )

    assert ann.get("me").error == (401, "INVALID_TOKEN")
