"""Sign-up, login and logout with any user model, time settings and transactions of the host."""

from datetime import UTC, datetime, timedelta

import jwt
import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Account, Session
from tests.hosts.inside.users import deactivate, natural, only, unsaved_user
from tests.support.client import PASSWORD
from tests.support.people import change, email_field, has
from tests.support.routes import routes

pytestmark = pytest.mark.django_db

LATER = timedelta(minutes=1)


def import_users(*users):
    """Create users without signals, so they have no account."""
    get_user_model().objects.bulk_create(users)


def claims(token):
    return jwt.decode(token, options={"verify_signature": False})


def test_user_id_is_the_primary_key_of_the_host(api):
    assert api.sign_up()["user"]["id"] == str(only().pk)


def test_access_token_gives_access_to_me(api):
    token = api.sign_up()["access_token"]

    assert api.get("me", token=token).data["email"] == "ann@example.com"


def test_login_after_signup_succeeds(api):
    api.sign_up()

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200


def test_refresh_returns_new_tokens(api):
    token = api.sign_up()["refresh_token"]

    assert api.post("refresh", refresh_token=token).status == 200


def test_logout_revokes_the_access_token(api):
    token = api.sign_up()["access_token"]

    api.post("logout", token=token)

    assert api.get("me", token=token).code == "INVALID_TOKEN"


def test_signup_with_taken_address_in_other_case_is_refused(api):
    api.sign_up()

    again = api.post("signup", email="ANN@example.com", password=PASSWORD)

    assert again.code == "USER_ALREADY_EXISTS"


def test_existing_user_logs_in_by_username_field(api):
    user = unsaved_user()
    import_users(user)

    assert api.post("login", password=PASSWORD, **natural(user)).status == 200


@pytest.mark.skipif(not has(email_field()), reason="the users of this host have no address")
def test_login_with_address_changed_by_the_host_succeeds(api):
    api.sign_up()
    change(**{email_field(): "anna@example.com"})
    # This look-up updates the account.
    api.post("login", email="ann@example.com", password=PASSWORD)

    assert api.post("login", email="anna@example.com", password=PASSWORD).status == 200


def test_password_changed_by_the_host_revokes_sessions(api):
    token = api.sign_up()["access_token"]
    user = only()
    user.set_password("another " + PASSWORD)
    user.save()

    assert api.get("me", token=token).code == "INVALID_TOKEN"


def test_login_of_inactive_user_with_correct_password_is_user_not_active(api):
    api.sign_up()
    deactivate()

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "USER_NOT_ACTIVE")


def test_inactive_user_has_no_valid_session(api):
    token = api.sign_up()["access_token"]
    deactivate()

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")


def test_deleted_user_leaves_no_rows(api):
    api.sign_up()

    only().delete()

    assert not Account.objects.exists()
    assert not Session.objects.exists()


def test_attempts_of_refused_logins_are_counted(api):
    api.sign_up()
    for _ in range(BUDGET.limit):
        api.post("login", email="ann@example.com", password="wrong")

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.code == "TOO_MANY_ATTEMPTS"


def test_timestamp_in_response_is_utc(api):
    moment = datetime.fromisoformat(api.sign_up()["user"]["created_at"])

    assert abs(datetime.now(UTC) - moment) < LATER


def test_timestamp_in_token_is_epoch_seconds(api):
    moment = claims(api.sign_up()["access_token"])["auth_time"]

    assert abs(datetime.now(UTC).timestamp() - moment) < LATER.total_seconds()


def test_throttled_login_has_retry_after(api):
    for _ in range(BUDGET.limit):
        api.post("login", email="ann@example.com", password="wrong")

    wait = int(api.post("login", email="ann@example.com", password="wrong").headers["Retry-After"])

    assert 0 < wait <= BUDGET.window.total_seconds() + 1


def test_admin_routes_require_super_admin():
    admin = [route for route in routes() if route.path.startswith("admin/")]

    assert [str(route) for route in admin if not route.super_admin or route.public] == []


def test_system_checks_find_no_error():
    call_command("check", fail_level="ERROR")
