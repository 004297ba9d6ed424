"""Changes and refusals of a second factor are recorded, with the actor and the method."""

from datetime import UTC, datetime

import pytest

from authservice.core.users import lookup
from authservice.twofactor.verify_login import second_factor
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


def actions_of(events):
    return [(event.action.removeprefix("auth.2fa."), event.severity) for event in events]


def test_enabling_is_recorded(ann, events):
    ann.enrol()

    assert actions_of(events()) == [("enabled", "info")]
    assert events()[0].user == the_user()


def test_setup_alone_is_not_recorded(ann, events):
    ann.set_up()

    assert events() == []


def test_disabling_is_recorded_as_a_warning(enrolled, events):
    enrolled.post("2fa/disable", code=enrolled.code())

    assert actions_of(events()) == [("disabled", "warning")]
    assert (events()[0].user, events()[0].actor_type) == (the_user(), "user")


@pytest.mark.parametrize(
    ("since", "reason"),
    [(None, "unproven"), (datetime(2000, 1, 1, tzinfo=UTC), "recovery")],
    ids=["first proof", "recovery"],
)
def test_removal_by_a_recovery_is_recorded_as_one_of_the_system(enrolled, events, since, reason):
    second_factor.revoke(lookup.get_person(the_user()), since)

    assert actions_of(events()) == [("disabled", "warning")]
    assert (events()[0].actor_type, events()[0].metadata["reason"]) == ("system", reason)


def test_removal_of_a_set_up_by_a_recovery_is_not_recorded(ann, events):
    ann.set_up()

    second_factor.revoke(lookup.get_person(the_user()), None)

    assert events() == []


def test_new_set_of_backup_codes_is_recorded(enrolled, events):
    enrolled.post("2fa/backup-codes", code=enrolled.code())

    assert actions_of(events()) == [("backup_regenerated", "info")]


def test_second_step_is_recorded_beside_the_login(enrolled, events):
    enrolled.verify_login(enrolled.code())

    (step,) = events()
    (login,) = events("auth.login.success")
    assert (step.action, dict(step.metadata)) == ("auth.2fa.verified", {"method": "totp"})
    assert login.metadata == {"method": "password"}


def test_used_backup_code_is_recorded_as_a_warning_beside_the_login(enrolled, events):
    enrolled.verify_login(enrolled.backup_codes[0])

    assert actions_of(events()) == [("backup_used", "warning"), ("verified", "info")]
    assert events()[1].metadata == {"method": "backup_code"}


def test_challenge_is_recorded(enrolled, events):
    enrolled.challenge()

    assert [event.action for event in events("auth.login.")] == ["auth.login.challenged"]


@pytest.mark.parametrize("route", ["2fa/verify-login", "2fa/disable", "2fa/backup-codes"])
def test_wrong_code_is_recorded(enrolled, events, route):
    token = enrolled.temp_token()
    enrolled.post(route, code=enrolled.wrong_code(), temp_token=token)

    assert actions_of(events()) == [("failed", "warning")]
    assert events()[0].metadata == {"reason": "invalid_code", "method": "totp"}
    assert events()[0].user == the_user()


def test_wrong_code_at_enabling_is_recorded(ann, events):
    ann.set_up()
    ann.post("2fa/verify", code=ann.wrong_code())

    assert actions_of(events()) == [("failed", "warning")]


def test_attempt_beyond_the_limit_is_recorded_as_throttled(enrolled, events):
    for _ in range(11):
        enrolled.verify_login(enrolled.wrong_code())

    assert len(events()) == 10
    (event,) = events("security.")
    assert (event.action, event.severity) == ("security.account.throttled", "warning")


def test_events_contain_no_secret(ann, events, clock):
    made = ann.set_up()
    codes = [ann.code(), ann.wrong_code()]
    for code in codes[::-1]:
        ann.post("2fa/verify", code=code)
    clock.forward(seconds=30)
    codes += [ann.code(), *ann.backup_codes]
    token = ann.temp_token()
    ann.verify_login(ann.backup_codes[0], token)
    ann.post("2fa/disable", code=ann.code())

    texts = " ".join(str((event.action, event.metadata)) for event in events(""))
    assert [secret for secret in (*codes, made["secret"], token) if secret in texts] == []


class TestFailingListener:
    """If the event cannot be recorded, the action fails and uses nothing up."""

    @pytest.fixture(autouse=True)
    def _failing_listener(self, enrolled, settings):
        self.plain = settings.INSTALLED_APPS
        self.settings = settings
        self.tokens = [enrolled.temp_token() for _ in range(2)]
        settings.INSTALLED_APPS = [*self.plain, "tests.support.modules.apps.FailingListener"]

    def remove_listener(self):
        self.settings.INSTALLED_APPS = self.plain

    def test_backup_code_is_not_used_if_its_event_cannot_be_recorded(self, robust, enrolled):
        body = {"temp_token": self.tokens[0], "code": enrolled.backup_codes[0]}
        assert robust.post("2fa/verify-login", **body).status == 500

        self.remove_listener()

        assert robust.post("2fa/verify-login", **body).status == 200

    def test_factor_stays_enabled_if_the_event_cannot_be_recorded(self, robust, enrolled):
        answer = robust.post("2fa/disable", token=enrolled.token, code=enrolled.code())
        assert answer.status == 500

        self.remove_listener()

        assert enrolled.get("2fa/status").data["enabled"] is True
