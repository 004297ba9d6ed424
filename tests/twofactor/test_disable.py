"""Disabling the second factor, by its owner, by an operator and by core."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from authservice.core.cleanup import delete_expired, expired_rows
from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.twofactor.models import Authenticator, BackupCode, RememberedDevice
from authservice.twofactor.verify_login import second_factor
from tests.support.people import the_user
from tests.twofactor.people import ANN, Person

pytestmark = pytest.mark.django_db
INVALID = (400, "TWO_FACTOR_INVALID")


def tables():
    return [model.objects.count() for model in (Authenticator, BackupCode, RememberedDevice)]


def test_owner_can_disable_the_factor_with_a_code(api, enrolled):
    answer = enrolled.post("2fa/disable", code=enrolled.code())

    assert answer.status == 200
    assert set(answer.data) == {"message"}
    assert enrolled.get("2fa/status").data["method"] == ""
    assert "access_token" in api.log_in()


def test_disabled_factor_leaves_no_rows(enrolled):
    enrolled.post("2fa/disable", code=enrolled.code())

    assert tables() == [0, 0, 0]


def test_session_stays_valid_after_disabling(enrolled):
    enrolled.post("2fa/disable", code=enrolled.code())

    assert enrolled.get("me").status == 200


def test_wrong_code_does_not_disable_the_factor(enrolled):
    assert enrolled.post("2fa/disable", code=enrolled.wrong_code()).error == INVALID
    assert enrolled.get("2fa/status").data["enabled"] is True


@pytest.mark.parametrize("set_up", [False, True])
def test_disabling_without_an_enabled_factor_is_refused(ann, set_up):
    if set_up:
        ann.set_up()

    answer = ann.post("2fa/disable", code="123456")

    assert answer.error == (400, "TWO_FACTOR_NOT_ENABLED")


def test_another_factor_can_be_set_up_after_disabling(enrolled, clock):
    old = enrolled.backup_codes[0]
    enrolled.post("2fa/disable", code=enrolled.code())

    enrolled.enrol()

    clock.forward(seconds=30)
    assert enrolled.verify_login(old).error == (401, "TWO_FACTOR_INVALID")
    assert enrolled.verify_login(enrolled.code()).status == 200


# By an operator


def disable(name=ANN):
    call_command("authservice_disable_2fa", name)


def test_operator_can_disable_the_factor_of_a_user(api, enrolled, capsys):
    disable()

    assert "Disabled the second factor of user" in capsys.readouterr().out
    assert "access_token" in api.log_in()
    assert tables() == [0, 0, 0]


def test_factor_disabled_by_an_operator_ends_all_sessions(enrolled):
    disable()

    assert enrolled.get("me").error == (401, "INVALID_TOKEN")
    assert Account.objects.get().token_version == 1


def test_factor_disabled_by_an_operator_is_recorded_as_done_by_the_system(enrolled, events):
    disable()

    (event,) = events()
    assert (event.action, event.severity) == ("auth.2fa.disabled", "warning")
    assert (event.user, event.target, event.actor_type) == (None, the_user(), "system")


@pytest.mark.parametrize("set_up", [False, True])
def test_operator_gets_an_error_if_no_factor_is_enabled(ann, set_up):
    if set_up:
        ann.set_up()

    with pytest.raises(CommandError, match="has no second factor"):
        disable()

    assert ann.get("me").status == 200


def test_operator_gets_an_error_for_an_unknown_user():
    with pytest.raises(CommandError, match="There is no user"):
        disable("nobody@example.com")


# By slots of core and by the cleanup


def test_factor_set_up_without_verification_is_removed(api, enrolled):
    bob = Person(api, "bob@example.com").sign_up().enrol()

    second_factor.revoke(lookup.get_person(the_user()), None)

    assert "access_token" in api.log_in(ANN)
    assert "challenges" in api.log_in(bob.email)


def test_factor_is_deleted_with_its_user(enrolled):
    the_user().delete()

    assert tables() == [0, 0, 0]


def run_cleanup():
    found = expired_rows(sessions_kept=timedelta(days=30))
    return {rows.name: delete_expired(rows, batch_size=4) for rows in found}


def test_cleanup_deletes_an_unconfirmed_setup_after_a_day(ann, clock):
    ann.set_up()
    clock.forward(hours=23)
    assert run_cleanup()["abandoned set-ups"] == 0

    clock.forward(hours=1)

    deleted = run_cleanup()
    assert (deleted["backup codes of abandoned set-ups"], deleted["abandoned set-ups"]) == (10, 1)
    assert tables() == [0, 0, 0]


def test_cleanup_keeps_an_enabled_factor(enrolled, clock):
    clock.forward(days=4000)

    run_cleanup()

    assert tables() == [1, 10, 0]
