"""Giving the second factor up, by its owner and by others."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from authservice.core.cleanup import delete_expired, expired_rows
from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.kernel.modules import plugs
from authservice.twofactor.models import Authenticator, BackupCode, RememberedDevice
from tests.people import the_user
from tests.twofactor.people import ANN, Person

pytestmark = pytest.mark.django_db
INVALID = (400, "TWO_FACTOR_INVALID")


def tables():
    return [model.objects.count() for model in (Authenticator, BackupCode, RememberedDevice)]


def test_its_owner_gives_it_up_with_a_code(api, enrolled):
    answer = enrolled.post("2fa/disable", code=enrolled.code())

    assert answer.status == 200
    assert set(answer.data) == {"message"}
    assert enrolled.get("2fa/status").data["method"] == ""
    assert "access_token" in api.log_in()


def test_nothing_of_it_stays(enrolled):
    enrolled.post("2fa/disable", code=enrolled.code())

    assert tables() == [0, 0, 0]


def test_the_sign_in_goes_on(enrolled):
    enrolled.post("2fa/disable", code=enrolled.code())

    assert enrolled.get("me").status == 200


def test_a_wrong_code_leaves_it(enrolled):
    assert enrolled.post("2fa/disable", code=enrolled.wrong_code()).error == INVALID
    assert enrolled.get("2fa/status").data["enabled"] is True


@pytest.mark.parametrize("began", [False, True])
def test_there_must_be_one(ann, began):
    if began:
        ann.set_up()

    answer = ann.post("2fa/disable", code="123456")

    assert answer.error == (400, "TWO_FACTOR_NOT_ENABLED")


def test_another_may_be_set_up_afterwards(enrolled, clock):
    old = enrolled.backup_codes[0]
    enrolled.post("2fa/disable", code=enrolled.code())

    enrolled.enrol()

    clock.forward(seconds=30)
    assert enrolled.verify_login(old).error == (401, "TWO_FACTOR_INVALID")
    assert enrolled.verify_login(enrolled.code()).status == 200


# By an operator


def disable(name=ANN):
    call_command("authservice_disable_2fa", name)


def test_an_operator_takes_it_away(api, enrolled, capsys):
    disable()

    assert "Disabled the second factor of user" in capsys.readouterr().out
    assert "access_token" in api.log_in()
    assert tables() == [0, 0, 0]


def test_everybody_signed_in_is_out(enrolled):
    disable()

    assert enrolled.get("me").error == (401, "INVALID_TOKEN")
    assert Account.objects.get().token_version == 1


def test_it_is_told_as_done_by_the_system(enrolled, told):
    disable()

    (event,) = told()
    assert (event.action, event.severity) == ("auth.2fa.disabled", "warning")
    assert (event.user, event.target, event.actor_type) == (None, the_user(), "system")


@pytest.mark.parametrize("began", [False, True])
def test_where_there_is_none_nothing_is_done(ann, began):
    if began:
        ann.set_up()

    with pytest.raises(CommandError, match="has no second factor"):
        disable()

    assert ann.get("me").status == 200


def test_an_unknown_user_is_an_error():
    with pytest.raises(CommandError, match="There is no user"):
        disable("nobody@example.com")


# By what core asks


def test_unproven_access_is_wiped(api, enrolled):
    bob = Person(api, "bob@example.com").sign_up().enrol()

    for wipe in plugs("revoke_unverified_access"):
        wipe(lookup.get_person(the_user()))

    assert "access_token" in api.log_in(ANN)
    assert "challenges" in api.log_in(bob.email)


def test_it_goes_with_its_user(enrolled):
    the_user().delete()

    assert tables() == [0, 0, 0]


def swept():
    found = expired_rows(sessions_kept=timedelta(days=30))
    return {waste.name: delete_expired(waste, batch_size=4) for waste in found}


def test_a_setup_that_nobody_confirmed_is_swept_after_a_day(ann, clock):
    ann.set_up()
    clock.forward(hours=23)
    assert swept()["abandoned set-ups"] == 0

    clock.forward(hours=1)

    gone = swept()
    assert (gone["backup codes of abandoned set-ups"], gone["abandoned set-ups"]) == (10, 1)
    assert tables() == [0, 0, 0]


def test_what_is_enabled_is_never_swept(enrolled, clock):
    clock.forward(days=4000)

    swept()

    assert tables() == [1, 10, 0]
