"""Where the host asks for a second factor, who has none sets one up before there are tokens."""

import pytest

from authservice.core.models import Account, Session
from tests.client import PASSWORD
from tests.people import deactivate
from tests.twofactor.people import ANN, Person, app_of

pytestmark = pytest.mark.django_db
NO_TOKEN = (401, "INVALID_TOKEN")


@pytest.fixture
def _everybody(configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"})


everybody = pytest.mark.usefixtures("_everybody")


class Newcomer(Person):
    """Somebody whose temp_token stands in for an access token while they enrol."""

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
def bob(api, _everybody) -> Newcomer:
    api.post("signup", email="bob@example.com", password=PASSWORD)
    return Newcomer(api, "bob@example.com")


@everybody
def test_a_sign_up_is_challenged(api):
    answer = api.post("signup", email=ANN, password=PASSWORD)

    assert answer.status == 200
    assert [challenge["type"] for challenge in answer.data["challenges"]] == ["2fa_setup"]
    assert set(answer.data) == {"user", "challenges", "message"}


def test_so_is_a_login(bob):
    challenge = bob.challenge()

    assert challenge["type"] == "2fa_setup"
    assert set(challenge["data"]) == {"requires_2fa", "temp_token", "user_id", "message"}
    assert not Session.objects.exists()


def test_its_temp_token_sets_a_factor_up(bob):
    answer = bob.begin()

    assert set(answer.data) == {"secret", "qr_url", "qr_code", "backup_codes", "message"}
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_first_code_gives_tokens(api, bob):
    bob.begin()

    answer = bob.finish()

    assert answer.status == 200
    assert api.get("me", token=answer.data["access_token"]).data["email"] == bob.email
    assert api.get("2fa/status", token=answer.data["access_token"]).data["enabled"] is True


def test_that_code_is_used(bob, clock):
    bob.begin()
    bob.finish()

    assert bob.verify_login(bob.code()).error == (401, "TWO_FACTOR_INVALID")
    assert bob.verify_login(bob.code(1)).status == 200


def test_afterwards_a_login_asks_for_the_code(bob):
    bob.begin()
    bob.finish()

    assert bob.challenge()["type"] == "2fa"


def test_a_wrong_code_gives_nothing(bob):
    bob.begin()

    assert bob.finish(bob.wrong_code()).error == (401, "TWO_FACTOR_INVALID")
    assert bob.challenge()["type"] == "2fa_setup"


def test_a_backup_code_enables_nothing(bob):
    bob.begin()

    assert bob.finish(bob.backup_codes[0]).error == (401, "TWO_FACTOR_INVALID")


def test_a_code_before_a_setup_is_none(bob):
    answer = bob.verify_login("123456", bob.temp_token())

    assert answer.error == (400, "TWO_FACTOR_NOT_ENABLED")


def test_the_temp_token_works_once(bob):
    bob.begin()
    bob.finish()

    assert bob.finish(bob.code(1)).error == NO_TOKEN


def test_it_takes_five_tries(bob):
    bob.begin()
    for _ in range(5):
        bob.finish(bob.wrong_code())

    assert bob.finish().error == (429, "TOO_MANY_ATTEMPTS")


@pytest.mark.parametrize(("minutes", "status"), [(14, 200), (15, 401)])
def test_it_lives_for_a_quarter_of_an_hour(bob, clock, minutes, status):
    bob.begin()

    clock.forward(minutes=minutes)

    assert bob.finish().status == status


def test_it_ends_with_its_person(api, bob):
    bob.begin()
    deactivate(bob.email)

    assert bob.finish().error == NO_TOKEN
    assert api.post("2fa/setup-login", temp_token=bob.temp).error == NO_TOKEN


@pytest.mark.parametrize("method_and_path", [("GET", "me"), ("POST", "2fa/setup")])
def test_it_permits_nothing_else(api, bob, method_and_path):
    bob.begin()

    assert api.request(*method_and_path, token=bob.temp).error == NO_TOKEN


def test_two_who_enrol_at_once_cannot_pass_by_each_others_factor(api, bob):
    """Whoever has the password alone gets nothing by a challenge from before the owner enrolled."""
    thief = Newcomer(api, bob.email)
    thief.begin()
    bob.begin()
    bob.finish()

    assert thief.finish(bob.code(1)).error == NO_TOKEN
    assert thief.finish(thief.code()).error == NO_TOKEN
    again = api.post("2fa/setup-login", temp_token=thief.temp)
    assert again.error == (400, "TWO_FACTOR_ALREADY_ENABLED")


def test_a_challenge_for_a_code_sets_nothing_up(api, enrolled):
    answer = api.post("2fa/setup-login", temp_token=enrolled.temp_token())

    assert answer.error == NO_TOKEN


def test_who_signed_in_before_goes_on_until_they_enrol(api, ann, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"})
    assert ann.get("me").status == 200

    same = Newcomer(api, ANN)
    same.begin()
    same.finish()

    assert ann.get("me").error == NO_TOKEN


@everybody
def test_who_has_to_verify_first_is_not_asked_yet(api, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"}, CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert "challenges" not in api.sign_up()


# Super admins alone


@pytest.mark.parametrize(("admin", "asked"), [(True, True), (False, False)])
def test_a_host_may_ask_super_admins_alone(api, ann, configure, admin, asked):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})
    Account.objects.update(is_super_admin=admin)

    assert ("challenges" in api.log_in()) is asked


def test_a_new_super_admin_without_a_factor_is_asked_at_the_next_login(api, ann, configure):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})
    assert "access_token" in api.log_in()

    Account.objects.update(is_super_admin=True)

    assert "challenges" in api.log_in()


def test_device_on_which_a_factor_is_set_up_to_sign_in_has_tries_of_its_own(bob, clock):
    clock.forward(milliseconds=500)  # a device token stores whole seconds
    bob.begin()
    device = {"X-Device-Token": bob.finish().headers["X-Device-Token"]}
    clock.forward(seconds=30)

    for _ in range(11):
        answer = bob.verify_login(bob.wrong_code())

    assert answer.error == (429, "TOO_MANY_ATTEMPTS")
    assert bob.verify_login(bob.code(), headers=device).status == 200
