"""The proof that the owner acts: password and code, or a recent login of a user without either."""

import pytest

from authservice.core.models import Session
from authservice.core.recovery import recent_proof
from authservice.kernel.levels import LEGACY
from tests.contract.shapes import is_refusal
from tests.core.own_account.owner import REAUTHENTICATE, Owner, without_password
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.flows import NEW
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

WRONG = "not " + PASSWORD


def test_wrong_password_is_refused(owner):
    assert is_refusal(owner.rename(password=WRONG), 401, "INVALID_CREDENTIALS")


@pytest.mark.parametrize("password", [None, ""])
def test_password_is_required_even_in_a_recent_session(owner, password):
    assert owner.rename(password=password).error == REAUTHENTICATE


def test_wrong_password_is_refused_after_ten_attempts_as_throttled(owner):
    refused = [owner.rename(password=WRONG).error for _ in range(11)]

    assert refused == [(401, "INVALID_CREDENTIALS")] * 10 + [(429, "TOO_MANY_ATTEMPTS")]
    assert owner.rename().error == (429, "TOO_MANY_ATTEMPTS")


def test_missing_password_is_not_an_attempt(owner):
    for _ in range(11):
        owner.rename(password=None)

    assert owner.rename().status == 200


@pytest.mark.parametrize(
    "ask",
    [Owner.rename, Owner.move, lambda owner: owner.ask("DELETE", "me")],
    ids=["username", "address", "deletion"],
)
def test_password_that_changes_after_its_check_is_refused(
    api, proven_owner, monkeypatch, configure, ask
):
    """The session stays valid, since the password was changed in it."""
    owner = proven_owner
    configure(CORE={"ALLOW_SELF_DELETE": True})
    require = recent_proof.require_owner

    def require_and_change(*arguments, **options):
        require(*arguments, **options)
        body = {"old_password": PASSWORD, "new_password": NEW}
        assert api.request("PUT", "change-password", body, token=owner.token).status == 200

    monkeypatch.setattr(recent_proof, "require_owner", require_and_change)

    assert ask(owner).error == (401, "INVALID_CREDENTIALS")


def test_hash_that_a_backend_of_the_project_upgrades_is_the_checked_one(owner, settings, api):
    settings.AUTHENTICATION_BACKENDS = ["tests.support.modules.backends.Upgrading"]
    body = {"old_password": PASSWORD, "new_password": NEW}

    assert owner.rename().status == 200
    assert api.request("PUT", "change-password", body, token=owner.token).status == 200


@pytest.mark.parametrize(("minutes", "status"), [(9, 200), (11, 403)])
def test_user_without_a_password_needs_a_session_of_ten_minutes(owner, minutes, status):
    without_password(owner)
    age_sessions(minutes)

    assert owner.rename(password=None).status == status


def test_password_of_a_user_without_one_is_refused(owner):
    without_password(owner)

    assert owner.rename(password=PASSWORD).error == (401, "INVALID_CREDENTIALS")


def test_refresh_makes_no_session_recent(api, owner, ann):
    without_password(owner)
    age_sessions()
    owner.token = api.post("refresh", refresh_token=ann["refresh_token"]).data["access_token"]

    assert owner.rename(password=None).error == REAUTHENTICATE


def test_session_traded_for_a_token_of_another_package_is_never_recent(owner):
    without_password(owner)
    Session.objects.update(amr=LEGACY, levels="")

    assert owner.rename(password=None).error == REAUTHENTICATE


@pytest.fixture
def app(owner, clock):
    """The owner with a second factor, whose app shows the next unused code."""
    owner.token = owner.api.log_in()["access_token"]  # at the time of the clock
    person = Person(owner.api, token=owner.token, user_id=owner.user_id).enrol()
    clock.forward(seconds=30)
    return person


def test_password_needs_the_code_of_the_second_factor(owner, app):
    answer = owner.rename()

    assert is_refusal(answer, 401, "TWO_FACTOR_INVALID")
    assert owner.rename(code=app.code()).status == 200


def test_backup_code_is_accepted_once(owner, app):
    code = app.backup_codes[0]

    assert owner.rename(code=code).status == 200
    assert owner.rename("other", code=code).error == (401, "TWO_FACTOR_INVALID")


def test_taken_username_uses_up_no_backup_code(api, owner, app):
    api.sign_up("ben@example.com", username="benjamin")
    code = app.backup_codes[0]

    assert owner.rename("benjamin", code=code).error == (400, "USERNAME_ALREADY_EXISTS")
    assert owner.rename(code=code).status == 200


def test_taken_username_before_a_code_counts_under_the_rate_is_available(
    api, owner, app, configure
):
    configure(THROTTLE={"RATES": {"is-available": "3/d"}})
    api.sign_up("ben@example.com", username="benjamin")
    code = app.backup_codes[0]
    refused = [owner.rename("benjamin", password=WRONG, code=code).code for _ in range(4)]

    assert refused == ["USERNAME_ALREADY_EXISTS"] * 3 + ["TOO_MANY_REQUESTS"]


def test_free_username_with_a_code_reveals_nothing_without_an_attempt_at_the_password(
    api, owner, app
):
    api.sign_up("ben@example.com", username="benjamin")
    taken = owner.rename("benjamin", password=None, code="123456")
    free = owner.rename("anna", password=None, code="123456")

    assert taken.error == free.error == REAUTHENTICATE
    for _ in range(10):
        owner.rename("anna", password=WRONG, code="123456")
    assert owner.rename("anna", code="123456").error == (429, "TOO_MANY_ATTEMPTS")


def test_wrong_codes_are_refused_after_ten_attempts_as_throttled(owner, app):
    refused = [owner.rename(code=app.wrong_code()).error for _ in range(11)]

    assert refused == [(401, "TWO_FACTOR_INVALID")] * 10 + [(429, "TOO_MANY_ATTEMPTS")]


def test_right_code_with_a_wrong_password_is_refused_and_not_used(owner, app):
    code = app.code()

    assert owner.rename(password=WRONG, code=code).error == (401, "INVALID_CREDENTIALS")
    assert owner.rename(code=code).status == 200
