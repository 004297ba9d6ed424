"""Users that a host had before us, or changes behind our back."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.client import PASSWORD
from tests.people import change, email_field, has, make_user, the_user, unsaved

pytestmark = pytest.mark.django_db

WRONG = (401, "INVALID_CREDENTIALS")


def log_in(api, email, password=PASSWORD):
    return api.post("login", email=email, password=password)


def natural_name():
    """The login body that names the first user by the host's own natural key."""
    field = get_user_model().USERNAME_FIELD
    known = "email" if field == email_field() else "username"
    return {known: getattr(the_user(), field)}


def bulk_created(email="ann@example.com"):
    get_user_model().objects.bulk_create([unsaved(email)])


def test_a_saved_user_has_an_account_and_logs_in(api):
    make_user()

    assert log_in(api, "ann@example.com").status == 200


def test_a_user_made_in_bulk_logs_in_by_the_natural_key(api):
    bulk_created()
    assert Account.objects.count() == 0

    assert api.post("login", password=PASSWORD, **natural_name()).status == 200


def test_from_then_on_such_a_user_logs_in_by_the_address(api):
    bulk_created()
    api.post("login", password=PASSWORD, **natural_name())

    assert log_in(api, "ANN@example.com").status == 200


def test_a_wrong_password_is_as_wrong_for_a_user_made_in_bulk(api):
    bulk_created()

    assert api.post("login", password="wrong", **natural_name()).error == WRONG


def test_an_adopted_user_is_as_old_as_the_host_says(api):
    if has("date_joined"):
        user = make_user()

        assert Account.objects.get(user=user).created_at == user.date_joined
    else:
        make_user()

        assert Account.objects.get().created_at is not None


def test_an_adopted_address_is_not_verified(api):
    make_user()

    assert api.log_in()["user"]["email_verified"] is False


def test_an_address_changed_by_a_query_logs_in_no_more(api):
    make_user()
    change(**{email_field(): "new@example.com"})

    assert log_in(api, "ann@example.com").error == WRONG


def test_an_address_changed_by_a_save_logs_in_by_the_new_one(api):
    user = make_user()
    setattr(user, email_field(), "new@example.com")
    user.save()

    assert log_in(api, "new@example.com").status == 200
    assert log_in(api, "ann@example.com").error == WRONG


def test_an_address_changed_behind_our_back_is_unverified_by_itself(api):
    token = api.sign_up()["access_token"]
    account = Account.objects.get()
    Account.objects.update(verified_email_key=account.email_key)
    assert api.get("me", token=token).data["email_verified"] is True

    change(**{email_field(): "new@example.com"})

    assert api.get("me", token=token).data["email_verified"] is False


def test_the_next_request_of_a_user_brings_a_changed_address_in_step(api):
    token = api.sign_up()["access_token"]
    change(**{email_field(): "new@example.com"})

    assert api.get("me", token=token).data["email"] == "new@example.com"
    assert log_in(api, "new@example.com").status == 200


def test_a_changed_address_is_free_for_another(api):
    token = api.sign_up()["access_token"]
    change(**{email_field(): "new@example.com"})
    api.get("me", token=token)

    assert api.sign_up("ann@example.com", username="other")["user"]["email"] == "ann@example.com"


def test_a_name_changed_by_the_host_is_the_name(api):
    if has("first_name"):
        token = api.sign_up(first_name="Ann")["access_token"]
        change(first_name="Anna")

        assert api.get("me", token=token).data["first_name"] == "Anna"


def test_a_user_saved_in_part_keeps_the_account(api):
    token = api.sign_up()["access_token"]
    the_user().save(update_fields=["is_active"])

    assert api.get("me", token=token).status == 200


def test_a_fixture_that_is_loaded_brings_no_account_of_its_own_making(api):
    user = unsaved()
    user.save_base(raw=True)

    assert not Account.objects.filter(user=user.pk).exists()


@pytest.fixture
def two():
    """Two users with one address, where the host's model allows it."""
    if get_user_model()._meta.get_field(email_field()).unique:
        return None
    first = make_user("ann@example.com", username="first")
    second = make_user("ANN@example.com", username="second", password="second plum tart")
    return first, second


def test_a_contested_address_belongs_to_the_first(api, two):
    if two:
        assert log_in(api, "ann@example.com").data["user"]["id"] == str(two[0].pk)


def test_a_contested_address_does_not_log_in_the_second(api, two):
    if two:
        assert log_in(api, "ANN@example.com", "second plum tart").error == WRONG


def test_the_second_of_a_contested_address_logs_in_by_username(api, two):
    if two:
        answer = api.post("login", username="second", password="second plum tart")

        assert answer.data["user"]["id"] == str(two[1].pk)


def test_a_contested_address_is_the_seconds_once_the_first_gave_it_up(api, two):
    if two:
        first, second = two
        first.email = "other@example.com"
        first.save()
        second.save()

        assert log_in(api, "ann@example.com", "second plum tart").status == 200
