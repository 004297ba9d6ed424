"""If the host enables it, a device that its owner remembered needs no further code."""

from datetime import timedelta

import pytest
from django.contrib.auth.hashers import make_password

from authservice.core.cleanup import delete_expired, expired_rows
from authservice.twofactor.models import RememberedDevice
from tests.support.client import PASSWORD
from tests.support.people import change
from tests.twofactor.people import ANN, Person

pytestmark = pytest.mark.django_db
DAYS = 30


@pytest.fixture
def _on(configure):
    configure(TWOFACTOR={"REMEMBER_TTL": timedelta(days=DAYS)})


on = pytest.mark.usefixtures("_on")


def remembered(person, **more):
    """The header of a device that was remembered with a code."""
    answer = person.verify_login(person.code(), remember_device=True, **more)
    assert answer.status == 200, answer.body
    return {"X-Device-Token": answer.headers["X-Device-Token"]}


def is_challenged(api, device, email=ANN, password=PASSWORD):
    return "challenges" in api.log_in(email, password=password, headers=device)


@on
def test_remembered_device_needs_no_code(api, enrolled):
    assert not is_challenged(api, remembered(enrolled))


@on
def test_remembered_device_still_needs_the_password(api, enrolled):
    device = remembered(enrolled)

    answer = api.post("login", email=ANN, password="wrong", headers=device)

    assert answer.error == (401, "INVALID_CREDENTIALS")


@on
def test_other_device_needs_a_code(api, enrolled):
    remembered(enrolled)

    assert is_challenged(api, {})


@on
def test_device_is_remembered_only_on_request(api, enrolled):
    answer = enrolled.verify_login(enrolled.code())

    assert is_challenged(api, {"X-Device-Token": answer.headers["X-Device-Token"]})


def test_device_is_not_remembered_unless_the_host_sets_a_ttl(api, enrolled):
    assert is_challenged(api, remembered(enrolled))
    assert not RememberedDevice.objects.exists()


@on
def test_remembered_device_needs_a_code_after_the_setting_is_turned_off(api, enrolled, configure):
    device = remembered(enrolled)

    configure(TWOFACTOR={})

    assert is_challenged(api, device)


@on
@pytest.mark.parametrize(("days", "expected"), [(DAYS - 1, False), (DAYS, True)])
def test_remembered_device_needs_a_code_after_the_ttl(api, enrolled, clock, days, expected):
    device = remembered(enrolled)

    clock.forward(days=days)

    assert is_challenged(api, device) is expected


@on
def test_remembering_again_extends_the_ttl(api, enrolled, clock):
    device = remembered(enrolled)
    clock.forward(days=DAYS)

    remembered(enrolled, headers=device)

    assert not is_challenged(api, device)
    assert RememberedDevice.objects.count() == 1


@on
def test_remembered_device_ends_with_the_factor(api, enrolled, clock):
    device = remembered(enrolled)
    clock.forward(seconds=30)
    enrolled.post("2fa/disable", code=enrolled.code())
    enrolled.enrol()

    assert is_challenged(api, device)


@on
def test_remembered_device_ends_with_a_changed_password(api, enrolled):
    device = remembered(enrolled)
    body = {"old_password": PASSWORD, "new_password": "another plum tart 42"}
    assert api.request("PUT", "change-password", body, token=enrolled.token).status == 200

    assert is_challenged(api, device, password="another plum tart 42")


@on
def test_remembered_device_ends_with_a_password_that_the_host_changed(api, enrolled):
    device = remembered(enrolled)
    change(password=make_password("another plum tart 42"))

    assert is_challenged(api, device, password="another plum tart 42")


@on
def test_remembered_device_of_another_user_needs_a_code(api, enrolled, clock):
    bob = Person(api, "bob@example.com").sign_up().enrol()
    clock.forward(seconds=30)
    device = remembered(bob)

    assert is_challenged(api, device)


@on
@pytest.mark.parametrize("harm", [lambda t: t[:-2], lambda t: "x" + t, lambda t: ""])
def test_forged_device_needs_a_code(api, enrolled, harm):
    device = remembered(enrolled)

    assert is_challenged(api, {"X-Device-Token": harm(device["X-Device-Token"])})


@on
def test_cleanup_deletes_expired_remembered_devices(enrolled, clock):
    remembered(enrolled)
    clock.forward(days=DAYS)

    found = {rows.name: rows for rows in expired_rows(sessions_kept=timedelta(days=30))}

    assert delete_expired(found["remembered devices"], batch_size=10) == 1


@on
@pytest.mark.parametrize("value", ["true", 1, None])
def test_remember_device_must_be_a_boolean(enrolled, value):
    answer = enrolled.verify_login(enrolled.code(), remember_device=value)

    assert answer.error == (400, "VALIDATION_ERROR")
