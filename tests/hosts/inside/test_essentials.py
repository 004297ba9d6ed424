"""Signing up, in and out, with whatever users, clocks and transactions the host has."""

from datetime import UTC, datetime, timedelta

import jwt
import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Account, Session
from tests.client import PASSWORD
from tests.hosts.inside.users import deactivate, natural, only, stranger
from tests.people import change, email_field, has
from tests.routes import routes

pytestmark = pytest.mark.django_db

LATER = timedelta(minutes=1)


def import_users(*users):
    """Users made behind our back: no signal, no account."""
    get_user_model().objects.bulk_create(users)


def claims(token):
    return jwt.decode(token, options={"verify_signature": False})


def test_an_id_is_the_hosts_own(api):
    assert api.sign_up()["user"]["id"] == str(only().pk)


def test_an_access_token_opens_the_profile(api):
    token = api.sign_up()["access_token"]

    assert api.get("me", token=token).data["email"] == "ann@example.com"


def test_who_signed_up_can_log_in(api):
    api.sign_up()

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200


def test_a_refresh_token_gives_new_tokens(api):
    token = api.sign_up()["refresh_token"]

    assert api.post("refresh", refresh_token=token).status == 200


def test_a_logout_ends_the_access_token(api):
    token = api.sign_up()["access_token"]

    api.post("logout", token=token)

    assert api.get("me", token=token).code == "INVALID_TOKEN"


def test_an_address_is_taken_whatever_its_case(api):
    api.sign_up()

    again = api.post("signup", email="ANN@example.com", password=PASSWORD)

    assert again.code == "USER_ALREADY_EXISTS"


def test_users_who_were_there_before_log_in_by_their_own_key(api):
    user = stranger()
    import_users(user)

    assert api.post("login", password=PASSWORD, **natural(user)).status == 200


@pytest.mark.skipif(not has(email_field()), reason="this host's users have no address of its own")
def test_an_address_that_the_host_changed_opens_under_its_new_name(api):
    api.sign_up()
    change(**{email_field(): "anna@example.com"})
    api.post("login", email="ann@example.com", password=PASSWORD)  # the find that notices

    assert api.post("login", email="anna@example.com", password=PASSWORD).status == 200


def test_a_password_that_the_host_changed_ends_every_sign_in(api):
    token = api.sign_up()["access_token"]
    user = only()
    user.set_password("another " + PASSWORD)
    user.save()

    assert api.get("me", token=token).code == "INVALID_TOKEN"


def test_an_inactive_user_is_told_so_by_the_right_password(api):
    api.sign_up()
    deactivate()

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "USER_NOT_ACTIVE")


def test_an_inactive_user_keeps_no_sign_in(api):
    token = api.sign_up()["access_token"]
    deactivate()

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")


def test_a_deleted_user_leaves_nothing_behind(api):
    api.sign_up()

    only().delete()

    assert not Account.objects.exists()
    assert not Session.objects.exists()


def test_guesses_are_counted_although_their_requests_are_refused(api):
    api.sign_up()
    for _ in range(BUDGET.limit):
        api.post("login", email="ann@example.com", password="wrong")

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.code == "TOO_MANY_ATTEMPTS"


def test_a_moment_on_the_wire_is_told_in_utc(api):
    told = datetime.fromisoformat(api.sign_up()["user"]["created_at"])

    assert abs(datetime.now(UTC) - told) < LATER


def test_a_moment_in_a_token_counts_from_the_epoch(api):
    told = claims(api.sign_up()["access_token"])["auth_time"]

    assert abs(datetime.now(UTC).timestamp() - told) < LATER.total_seconds()


def test_a_blocked_guess_says_how_long_to_wait(api):
    for _ in range(BUDGET.limit):
        api.post("login", email="ann@example.com", password="wrong")

    wait = int(api.post("login", email="ann@example.com", password="wrong").headers["Retry-After"])

    assert 0 < wait <= BUDGET.window.total_seconds() + 1


def test_what_is_below_admin_is_for_super_admins_alone():
    admin = [route for route in routes() if route.path.startswith("admin/")]

    assert [str(route) for route in admin if not route.super_admin or route.public] == []


def test_no_check_finds_an_error():
    call_command("check", fail_level="ERROR")
