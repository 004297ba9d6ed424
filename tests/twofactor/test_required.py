"""If the host requires a second factor, a user without one sets it up before getting tokens."""

from datetime import timedelta

import pytest

from authservice.core.models import Account, Session
from tests.support.client import PASSWORD
from tests.support.people import change, deactivate, has
from tests.twofactor.people import ANN, Person, app_of

pytestmark = pytest.mark.django_db
NO_TOKEN = (401, "INVALID_TOKEN")


@pytest.fixture
def _everybody(configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"})


everybody = pytest.mark.usefixtures("_everybody")


class NewUser(Person):
    """A user who sets up a factor with a temp_token, before there is an access token."""

    temp = ""

    def begin(self):
        self.temp = self.temp_token()
        made = self.api.post("2fa/setup-login", temp_token=self.temp)
        assert made.status == 200, made.body
        self.app, self.backup_codes = app_of(made.data["qr_url"]), made.data["backup_codes"]
        return made

    def finish(self, code=""):
        return self.verify_login(code or self.code(), self.temp)


@pytest.fixture
def bob(api, _everybody) -> NewUser:
    api.post("signup", email="bob@example.com", password=PASSWORD)
    return NewUser(api, "bob@example.com")


@everybody
def test_sign_up_is_challenged(api):
    answer = api.post("signup", email=ANN, password=PASSWORD)

    assert answer.status == 200
    assert [challenge["type"] for challenge in answer.data["challenges"]] == ["2fa_setup"]
    assert set(answer.data) == {"status", "user", "challenges", "message"}


def test_login_is_challenged(bob):
    challenge = bob.challenge()

    assert challenge["type"] == "2fa_setup"
    assert set(challenge["data"]) == {"requires_2fa", "temp_token", "user_id", "message"}
    assert not Session.objects.exists()


def test_temp_token_permits_the_setup(bob):
    answer = bob.begin()

    assert set(answer.data) == {"secret", "qr_url", "qr_code", "backup_codes", "message"}
    assert answer.headers["Cache-Control"] == "no-store, private"


def test_first_code_returns_tokens(api, bob):
    bob.begin()

    answer = bob.finish()

    assert answer.status == 200
    assert api.get("me", token=answer.data["access_token"]).data["email"] == bob.email
    assert api.get("2fa/status", token=answer.data["access_token"]).data["enabled"] is True


def test_first_code_works_once(bob, clock):
    bob.begin()
    bob.finish()

    assert bob.verify_login(bob.code()).error == (401, "TWO_FACTOR_INVALID")
    assert bob.verify_login(bob.code(1)).status == 200


def test_next_login_is_challenged_for_a_code(bob):
    bob.begin()
    bob.finish()

    assert bob.challenge()["type"] == "2fa"


def test_wrong_code_does_not_enable_the_factor(bob):
    bob.begin()

    assert bob.finish(bob.wrong_code()).error == (401, "TWO_FACTOR_INVALID")
    assert bob.challenge()["type"] == "2fa_setup"


def test_backup_code_does_not_enable_the_factor(bob):
    bob.begin()

    assert bob.finish(bob.backup_codes[0]).error == (401, "TWO_FACTOR_INVALID")


def test_code_before_the_setup_is_refused(bob):
    answer = bob.verify_login("123456", bob.temp_token())

    assert answer.error == (400, "TWO_FACTOR_NOT_ENABLED")


def test_temp_token_works_once(bob):
    bob.begin()
    bob.finish()

    assert bob.finish(bob.code(1)).error == NO_TOKEN


def test_temp_token_accepts_five_attempts(bob):
    bob.begin()
    for _ in range(5):
        bob.finish(bob.wrong_code())

    assert bob.finish().error == (429, "TOO_MANY_ATTEMPTS")


@pytest.mark.parametrize(("minutes", "status"), [(14, 200), (15, 401)])
def test_temp_token_is_valid_for_fifteen_minutes(bob, clock, minutes, status):
    bob.begin()

    clock.forward(minutes=minutes)

    assert bob.finish().status == status


def test_temp_token_ends_when_the_user_is_deactivated(api, bob):
    bob.begin()
    deactivate(bob.email)

    assert bob.finish().error == NO_TOKEN
    assert api.post("2fa/setup-login", temp_token=bob.temp).error == NO_TOKEN


@pytest.mark.parametrize("method_and_path", [("GET", "me"), ("POST", "2fa/setup")])
def test_temp_token_permits_nothing_else(api, bob, method_and_path):
    bob.begin()

    assert api.request(*method_and_path, token=bob.temp).error == NO_TOKEN


def test_concurrent_setups_cannot_bypass_the_factor_of_each_other(api, bob):
    """An attacker with the password gains nothing by a challenge from before the owner's setup."""
    attacker = NewUser(api, bob.email)
    attacker.begin()
    bob.begin()
    bob.finish()

    assert attacker.finish(bob.code(1)).error == NO_TOKEN
    assert attacker.finish(attacker.code()).error == NO_TOKEN
    again = api.post("2fa/setup-login", temp_token=attacker.temp)
    assert again.error == (400, "TWO_FACTOR_ALREADY_ENABLED")


def test_challenge_for_a_code_does_not_permit_a_setup(api, enrolled):
    answer = api.post("2fa/setup-login", temp_token=enrolled.temp_token())

    assert answer.error == NO_TOKEN


def test_earlier_session_is_valid_until_the_factor_is_enabled(api, ann, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"})
    assert ann.get("me").status == 200

    same = NewUser(api, ANN)
    same.begin()
    same.finish()

    assert ann.get("me").error == NO_TOKEN


@everybody
def test_unverified_user_is_not_challenged_yet(api, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"}, CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert "challenges" not in api.sign_up()


# Super admins only


@pytest.mark.parametrize(("admin", "required"), [(True, True), (False, False)])
def test_factor_can_be_required_of_super_admins_only(api, ann, configure, admin, required):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})
    Account.objects.update(is_super_admin=admin)

    assert ("challenges" in api.log_in()) is required


def test_new_super_admin_without_a_factor_is_challenged_at_the_next_login(api, ann, configure):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})
    assert "access_token" in api.log_in()

    Account.objects.update(is_super_admin=True)

    assert "challenges" in api.log_in()


def test_device_on_which_a_factor_is_set_up_at_login_has_attempts_of_its_own(bob, clock):
    clock.forward(milliseconds=500)  # a device token stores whole seconds
    bob.begin()
    device = {"X-Device-Token": bob.finish().headers["X-Device-Token"]}
    clock.forward(seconds=30)

    for _ in range(11):
        answer = bob.verify_login(bob.wrong_code())

    assert answer.error == (429, "TOO_MANY_ATTEMPTS")
    assert bob.verify_login(bob.code(), headers=device).status == 200


# Staff only

with_staff = pytest.mark.skipif(not has("is_staff"), reason="the user model has no is_staff")


@with_staff
@pytest.mark.parametrize(("is_staff", "required"), [(True, True), (False, False)])
def test_factor_can_be_required_of_staff_only(api, ann, configure, is_staff, required):
    configure(TWOFACTOR={"REQUIRED": "staff"})
    change(ANN, is_staff=is_staff)

    assert ("challenges" in api.log_in()) is required


@pytest.mark.parametrize("required", ["staff", "super_admins"])
def test_factor_that_is_required_of_staff_is_required_of_super_admins(
    api, ann, configure, required
):
    configure(TWOFACTOR={"REQUIRED": required})
    assert "access_token" in api.log_in()  # also where the user model has no is_staff

    Account.objects.update(is_super_admin=True)

    assert "challenges" in api.log_in()


@with_staff
def test_factor_that_is_required_of_super_admins_is_not_required_of_other_staff(
    api, ann, configure
):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})
    change(ANN, is_staff=True)

    assert "access_token" in api.log_in()


@with_staff
@pytest.mark.parametrize("required", ["staff", "nobody"])
def test_staff_must_enter_a_code_on_a_remembered_device_only_if_required(
    api, enrolled, configure, required
):
    configure(TWOFACTOR={"REQUIRED": required, "REMEMBER_TTL": timedelta(days=30)})
    change(ANN, is_staff=True)
    answer = enrolled.verify_login(enrolled.code(), remember_device=True)
    device = {"X-Device-Token": answer.headers["X-Device-Token"]}

    answer = api.post("login", email=ANN, password=PASSWORD, headers=device)

    assert ("challenges" in answer.data) is (required == "staff")


@with_staff
def test_staff_set_up_the_factor_at_the_login(api, ann, configure):
    configure(TWOFACTOR={"REQUIRED": "staff"})
    change(ANN, is_staff=True)
    user = NewUser(api)
    user.begin()

    assert "access_token" in user.finish().data
