"""Users that the host had before it installed the service, or changes without it."""

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from authservice.core.models import Account
from tests.support.client import PASSWORD
from tests.support.people import change, email_field, has, make_user, the_user, unsaved

pytestmark = pytest.mark.django_db

WRONG = (401, "INVALID_CREDENTIALS")
shared_addresses = pytest.mark.skipif(
    get_user_model()._meta.get_field(email_field()).unique,
    reason="its users cannot share an address",
)


def log_in(api, email, password=PASSWORD):
    return api.post("login", email=email, password=password)


def natural_name():
    """The fields of a login request that name the first user by the host's natural key."""
    field = get_user_model().USERNAME_FIELD
    known = "email" if field == email_field() else "username"
    return {known: getattr(the_user(), field)}


def bulk_created(email="ann@example.com"):
    get_user_model().objects.bulk_create([unsaved(email)])


def test_saved_user_has_an_account_and_logs_in(api):
    make_user()

    assert log_in(api, "ann@example.com").status == 200


def test_user_created_in_bulk_logs_in_by_the_natural_key(api):
    bulk_created()
    assert Account.objects.count() == 0

    assert api.post("login", password=PASSWORD, **natural_name()).status == 200


def test_user_created_in_bulk_logs_in_by_the_address_after_the_first_login(api):
    bulk_created()
    api.post("login", password=PASSWORD, **natural_name())

    assert log_in(api, "ANN@example.com").status == 200


def test_wrong_password_of_a_user_created_in_bulk_is_refused(api):
    bulk_created()

    assert api.post("login", password="wrong", **natural_name()).error == WRONG


@pytest.mark.skipif(not has("date_joined"), reason="its users have no date of joining")
def test_adopted_user_has_the_creation_time_of_the_host():
    user = make_user()

    assert Account.objects.get(user=user).created_at == user.date_joined


@pytest.mark.skipif(has("date_joined"), reason="its users have a date of joining")
def test_adopted_user_without_a_creation_time_gets_the_current_one():
    before = timezone.now()

    make_user()

    assert Account.objects.get().created_at >= before


def test_adopted_address_is_not_verified(api):
    make_user()

    assert api.log_in()["user"]["email_verified"] is False


def test_address_replaced_by_a_query_no_longer_logs_in(api):
    make_user()
    change(**{email_field(): "new@example.com"})

    assert log_in(api, "ann@example.com").error == WRONG


def test_address_changed_by_a_save_logs_in_instead_of_the_old_one(api):
    user = make_user()
    setattr(user, email_field(), "new@example.com")
    user.save()

    assert log_in(api, "new@example.com").status == 200
    assert log_in(api, "ann@example.com").error == WRONG


def test_address_changed_by_a_query_is_unverified(api):
    token = api.sign_up()["access_token"]
    account = Account.objects.get()
    Account.objects.update(verified_email_key=account.email_key)
    assert api.get("me", token=token).data["email_verified"] is True

    change(**{email_field(): "new@example.com"})

    assert api.get("me", token=token).data["email_verified"] is False


def test_address_changed_by_a_query_is_adopted_at_the_next_request(api):
    token = api.sign_up()["access_token"]
    change(**{email_field(): "new@example.com"})

    assert api.get("me", token=token).data["email"] == "new@example.com"
    assert log_in(api, "new@example.com").status == 200


def test_address_replaced_by_a_query_is_free_for_another_user(api):
    token = api.sign_up()["access_token"]
    change(**{email_field(): "new@example.com"})
    api.get("me", token=token)

    assert api.sign_up("ann@example.com", username="other")["user"]["email"] == "ann@example.com"


@pytest.mark.skipif(not has("first_name"), reason="its users have no first name")
def test_name_changed_by_the_host_is_shown(api):
    token = api.sign_up(first_name="Ann")["access_token"]
    change(first_name="Anna")

    assert api.get("me", token=token).data["first_name"] == "Anna"


def test_user_saved_with_update_fields_keeps_the_account(api):
    token = api.sign_up()["access_token"]
    the_user().save(update_fields=["is_active"])

    assert api.get("me", token=token).status == 200


def test_user_loaded_from_a_fixture_gets_no_account(api):
    user = unsaved()
    user.save_base(raw=True)

    assert not Account.objects.filter(user=user.pk).exists()


@pytest.fixture
def two():
    """Two users with one address."""
    first = make_user("ann@example.com", username="first")
    second = make_user("ANN@example.com", username="second", password="second plum tart")
    return first, second


@shared_addresses
def test_contested_address_logs_in_the_first_user(api, two):
    assert log_in(api, "ann@example.com").data["user"]["id"] == str(two[0].pk)


@shared_addresses
def test_contested_address_does_not_log_in_the_second_user(api, two):
    assert log_in(api, "ANN@example.com", "second plum tart").error == WRONG


@shared_addresses
def test_second_user_with_a_contested_address_logs_in_by_username(api, two):
    answer = api.post("login", username="second", password="second plum tart")

    assert answer.data["user"]["id"] == str(two[1].pk)


@shared_addresses
def test_contested_address_goes_to_the_second_user_when_the_first_changes_it(api, two):
    first, second = two
    first.email = "other@example.com"
    first.save()
    second.save()

    assert log_in(api, "ann@example.com", "second plum tart").status == 200
