"""A device whose owner asked for it is not asked for a code again, where the host has that."""

from datetime import timedelta

import pytest
from django.contrib.auth.hashers import make_password

from authservice.core.cleanup import delete_expired, expired_rows
from authservice.twofactor.models import RememberedDevice
from tests.client import PASSWORD
from tests.people import change
from tests.twofactor.people import ANN, Person

pytestmark = pytest.mark.django_db
DAYS = 30


@pytest.fixture
def _on(configure):
    configure(TWOFACTOR={"REMEMBER_TTL": timedelta(days=DAYS)})


on = pytest.mark.usefixtures("_on")


def remembered(person, **more):
    """The header of a device on which a code was given."""
    answer = person.verify_login(person.code(), remember_device=True, **more)
    assert answer.status == 200, answer.body
    return {"X-Device-Token": answer.headers["X-Device-Token"]}


def asked(api, device, email=ANN, password=PASSWORD):
    return "challenges" in api.log_in(email, password=password, headers=device)


@on
def test_it_is_not_asked_for_a_code(api, enrolled):
    assert not asked(api, remembered(enrolled))


@on
def test_it_still_needs_the_password(api, enrolled):
    device = remembered(enrolled)

    answer = api.post("login", email=ANN, password="wrong", headers=device)

    assert answer.error == (401, "INVALID_CREDENTIALS")


@on
def test_every_other_device_is_asked(api, enrolled):
    remembered(enrolled)

    assert asked(api, {})


@on
def test_only_who_asks_for_it_is_remembered(api, enrolled):
    answer = enrolled.verify_login(enrolled.code())

    assert asked(api, {"X-Device-Token": answer.headers["X-Device-Token"]})


def test_it_is_off_unless_the_host_says_how_long(api, enrolled):
    assert asked(api, remembered(enrolled))
    assert not RememberedDevice.objects.exists()


@on
def test_turning_it_off_ends_it(api, enrolled, configure):
    device = remembered(enrolled)

    configure(TWOFACTOR={})

    assert asked(api, device)


@on
@pytest.mark.parametrize(("days", "expected"), [(DAYS - 1, False), (DAYS, True)])
def test_it_lasts_as_long_as_the_host_says(api, enrolled, clock, days, expected):
    device = remembered(enrolled)

    clock.forward(days=days)

    assert asked(api, device) is expected


@on
def test_asking_again_lengthens_it(api, enrolled, clock):
    device = remembered(enrolled)
    clock.forward(days=DAYS)

    remembered(enrolled, headers=device)

    assert not asked(api, device)
    assert RememberedDevice.objects.count() == 1


@on
def test_it_ends_with_the_factor(api, enrolled, clock):
    device = remembered(enrolled)
    clock.forward(seconds=30)
    enrolled.post("2fa/disable", code=enrolled.code())
    enrolled.enrol()

    assert asked(api, device)


@on
def test_it_ends_with_the_password(api, enrolled):
    device = remembered(enrolled)
    body = {"old_password": PASSWORD, "new_password": "another plum tart 42"}
    assert api.request("PUT", "change-password", body, token=enrolled.token).status == 200

    assert asked(api, device, password="another plum tart 42")


@on
def test_it_ends_with_a_password_that_the_host_changed(api, enrolled):
    device = remembered(enrolled)
    change(password=make_password("another plum tart 42"))

    assert asked(api, device, password="another plum tart 42")


@on
def test_a_device_of_somebody_else_is_none(api, enrolled, clock):
    bob = Person(api, "bob@example.com").sign_up().enrol()
    clock.forward(seconds=30)
    device = remembered(bob)

    assert asked(api, device)


@on
@pytest.mark.parametrize("harm", [lambda t: t[:-2], lambda t: "x" + t, lambda t: ""])
def test_a_forged_device_is_none(api, enrolled, harm):
    device = remembered(enrolled)

    assert asked(api, {"X-Device-Token": harm(device["X-Device-Token"])})


@on
def test_what_is_over_is_swept(enrolled, clock):
    remembered(enrolled)
    clock.forward(days=DAYS)

    found = {waste.name: waste for waste in expired_rows(sessions_kept=timedelta(days=30))}

    assert delete_expired(found["remembered devices"], batch_size=10) == 1


@on
@pytest.mark.parametrize("value", ["true", 1, None])
def test_only_a_boolean_asks_for_it(enrolled, value):
    answer = enrolled.verify_login(enrolled.code(), remember_device=value)

    assert answer.error == (400, "VALIDATION_ERROR")
