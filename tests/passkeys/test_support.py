"""The support page shows the passkeys of a user, and removes them."""

import pytest
from django.test import TestCase

from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.passkeys.models import Passkey
from authservice.passkeys.support import support
from tests.passkeys.authenticator import Authenticator
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return lambda: lookup.find_by_email("ann@example.com")


def test_passkeys_are_listed(ann, person):
    ann.enrol(name="Phone", second_factor=True)

    (section,) = support.sections(person())

    (row,) = section.rows
    assert row[0].text == "Phone"
    assert [str(cell) for cell in row[1:4]] == ["yes", "yes", "no"]
    assert len(row) == len(section.headings)
    assert Passkey.objects.get().credential_id not in str(section)


def test_second_factor_is_an_obstacle_that_does_not_block(ann, person):
    assert list(support.obstacles(person())) == []
    ann.enrol(second_factor=True)

    (obstacle,) = support.obstacles(person())

    assert obstacle.blocks is False


def test_button_removes_all_passkeys(ann, person):
    (button,) = support.buttons
    assert not button.offered(person())
    ann.enrol()
    ann.enrol()
    assert button.offered(person())

    with TestCase.captureOnCommitCallbacks(execute=True):
        done = button.run(person(), by=make_user("eve@example.com"), client=Client())

    assert done == "2 passkeys were removed."
    assert Passkey.objects.count() == 0


def stepped_up(holder):
    """The holder after a step-up with the passkey: the session began with the password."""
    asked = holder.post("step-up", acr="phr").data["challenges"][0]["data"]
    credential = holder.device.get(asked["passkey"])
    answer = holder.post("step-up/verify", temp_token=asked["temp_token"], credential=credential)
    assert answer.data["acr"] == "phr"
    return holder


def test_removal_by_staff_takes_the_level_of_a_passkey_from_live_sessions(
    ann, bob, person, configure
):
    configure(STEP_UP={"FURTHER_ROUTES": {"GET /me": {"acr": "phr"}}})
    for holder in (ann, bob):
        holder.device = Authenticator()
        holder.enrol()
        stepped_up(holder)
        assert holder.get("me").status == 200
    begun_with_passkey = ann.log_in().data["access_token"]
    assert ann.api.get("me", token=begun_with_passkey).status == 200
    (button,) = support.buttons

    with TestCase.captureOnCommitCallbacks(execute=True):
        button.run(person(), by=make_user("eve@example.com"), client=Client())

    assert ann.get("me").error == (403, "STEP_UP_UNAVAILABLE")
    assert ann.get("passkeys").status == 200  # the session itself goes on
    assert ann.api.get("me", token=begun_with_passkey).error == (401, "INVALID_TOKEN")
    assert bob.get("me").status == 200
