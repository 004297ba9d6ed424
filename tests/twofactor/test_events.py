"""What happens to a second factor is told, refusals too, with who did it and how."""

import pytest

from tests.people import the_user

pytestmark = pytest.mark.django_db


def facts(events):
    return [(event.action.removeprefix("auth.2fa."), event.severity) for event in events]


def test_enabling_is_told(ann, told):
    ann.enrol()

    assert facts(told()) == [("enabled", "info")]
    assert told()[0].user == the_user()


def test_setting_up_alone_is_not(ann, told):
    ann.set_up()

    assert told() == []


def test_disabling_is_a_warning(enrolled, told):
    enrolled.post("2fa/disable", code=enrolled.code())

    assert facts(told()) == [("disabled", "warning")]
    assert (told()[0].user, told()[0].actor_type) == (the_user(), "user")


def test_a_new_set_of_backup_codes_is_told(enrolled, told):
    enrolled.post("2fa/backup-codes", code=enrolled.code())

    assert facts(told()) == [("backup_regenerated", "info")]


def test_the_second_step_is_told_beside_the_sign_in(enrolled, told):
    enrolled.verify_login(enrolled.code())

    (step,) = told()
    (entered,) = told("auth.login.success")
    assert (step.action, dict(step.metadata)) == ("auth.2fa.verified", {"method": "totp"})
    assert entered.metadata == {"method": "password"}


def test_a_backup_code_is_a_warning_beside_it(enrolled, told):
    enrolled.verify_login(enrolled.backup_codes[0])

    assert facts(told()) == [("backup_used", "warning"), ("verified", "info")]
    assert told()[1].metadata == {"method": "backup_code"}


def test_the_challenge_is_told(enrolled, told):
    enrolled.challenge()

    assert [event.action for event in told("auth.login.")] == ["auth.login.challenged"]


@pytest.mark.parametrize("route", ["2fa/verify-login", "2fa/disable", "2fa/backup-codes"])
def test_a_wrong_code_is_told(enrolled, told, route):
    token = enrolled.temp_token()
    enrolled.post(route, code=enrolled.wrong_code(), temp_token=token)

    assert facts(told()) == [("failed", "warning")]
    assert told()[0].metadata == {"reason": "invalid_code", "method": "totp"}
    assert told()[0].user == the_user()


def test_a_wrong_code_at_enabling_is_told(ann, told):
    ann.set_up()
    ann.post("2fa/verify", code=ann.wrong_code())

    assert facts(told()) == [("failed", "warning")]


def test_a_guess_past_the_budget_is_told_as_such(enrolled, told):
    for _ in range(11):
        enrolled.verify_login(enrolled.wrong_code())

    assert len(told()) == 10
    (event,) = told("security.")
    assert (event.action, event.severity) == ("security.account.throttled", "warning")


def test_no_event_holds_a_secret(ann, told, clock):
    made = ann.set_up()
    codes = [ann.code(), ann.wrong_code()]
    for code in codes[::-1]:
        ann.post("2fa/verify", code=code)
    clock.forward(seconds=30)
    codes += [ann.code(), *ann.backup_codes]
    token = ann.temp_token()
    ann.verify_login(ann.backup_codes[0], token)
    ann.post("2fa/disable", code=ann.code())

    texts = " ".join(str((event.action, event.metadata)) for event in told(""))
    assert [secret for secret in (*codes, made["secret"], token) if secret in texts] == []


class TestWhereTheEntryCannotBeWritten:
    """The deed fails with it, and what it would have used up is left."""

    @pytest.fixture(autouse=True)
    def _refusing(self, enrolled, settings):
        self.plain = settings.INSTALLED_APPS
        self.settings = settings
        self.tokens = [enrolled.temp_token() for _ in range(2)]
        settings.INSTALLED_APPS = [*self.plain, "tests.plugs.apps.Refuser"]

    def mend(self):
        self.settings.INSTALLED_APPS = self.plain

    def test_a_backup_code_is_not_used_up(self, robust, enrolled):
        body = {"temp_token": self.tokens[0], "code": enrolled.backup_codes[0]}
        assert robust.post("2fa/verify-login", **body).status == 500

        self.mend()

        assert robust.post("2fa/verify-login", **body).status == 200

    def test_the_factor_stays(self, robust, enrolled):
        answer = robust.post("2fa/disable", token=enrolled.token, code=enrolled.code())
        assert answer.status == 500

        self.mend()

        assert enrolled.get("2fa/status").data["enabled"] is True
