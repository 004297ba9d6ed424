"""System checks of extra fields: a hostile serializer or response is an error."""

import pytest
from django.core import checks

from authservice.admin.views import AdminUser
from authservice.core.api.responses import User
from authservice.core.api.serializers import ProfileIn, SignupIn
from authservice.core.models import Account
from authservice.core.users.user_fields import reserved
from tests.extending.people import serializers

MINE = ("authservice.E22", "authservice.W22", "authservice.E006")
HOSTILE = (
    *("id", "pk", "email", "username", "password", "is_active", "is_staff", "is_superuser"),
    *("is_super_admin", "groups", "user_permissions", "last_login", "phone_number", "name"),
    *("first_name", "verified_email_key", "token_version"),
)
# Paths to what belongs to us, or back to a user.
PATHS = (
    *("authservice_account.email_key", "authservice_account", "groups.name"),
    *(
        "profile.user.password",
        "profile.user.is_staff",
        "profile.user",
        "profile.user_id",
        "_password",
    ),
)


def found():
    messages = checks.run_checks(tags=["authservice"])
    return [one for one in messages if one.id.startswith(MINE)]


def ids():
    return [one.id.partition(".")[2] for one in found()]


@pytest.fixture
def hostile(monkeypatch, use):
    """`hostile(name, source)` sets a serializer with one field."""

    def hostile(name, source=None):
        made = serializers.with_field(name, source)
        monkeypatch.setattr(serializers, "Hostile", made, raising=False)
        use("Hostile")

    return hostile


def test_check_accepts_the_documented_settings(documented):
    for number in (0, 1):
        documented(number)
        assert {"E222", "E223", "E224", "E225"}.isdisjoint(ids())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("All", "E223"),
        ("Excluding", "E223"),
        ("OfNotes", "E222"),
        ("Misspelled", "E222"),
        ("with_field", "E222"),
        ("Unstored", "E225"),
        ("Absent", "E006"),
    ],
)
def test_check_refuses_serializers(use, name, expected):
    use(name)

    assert ids().count(expected) == 2  # sign-up and profile


@pytest.mark.parametrize("name", HOSTILE)
def test_check_refuses_a_serializer_with_a_reserved_name(hostile, name):
    hostile(name)

    assert ids().count("E223") == 2


@pytest.mark.parametrize("source", [*HOSTILE, *PATHS, "*"])
def test_check_refuses_a_serializer_with_a_reserved_source(hostile, source):
    hostile("nickname", source)

    assert ids().count("E223") == 2


@pytest.mark.parametrize("source", ["full_name", "profile.city"])
def test_check_accepts_a_serializer_with_another_source(hostile, source):
    hostile("nickname", source)

    assert "E223" not in ids()


@pytest.mark.parametrize("name", HOSTILE)
def test_check_refuses_to_show_a_reserved_name(use, name):
    use(USER_FIELDS=[name])

    assert "E224" in ids()


@pytest.mark.parametrize(
    "path",
    [
        *HOSTILE,
        *PATHS,
        *("authservice_account.device_ids", "authservice_sessions", "authservice_tokens"),
        *("authenticators", "authservice_linked_accounts.sealed_tokens"),
        *("delete", "forget", "set_password", "objects", "DoesNotExist", "get_session_auth_hash"),
        *("no_such_field", "profile.no_such_field", "note_set.pk", "full_name.upper()", ""),
    ],
)
def test_check_refuses_to_show_a_reserved_path(use, path):
    use(USER_FIELDS={"nickname": path})

    assert "E224" in ids()


@pytest.mark.parametrize("path", ["full_name", "initials", "profile.city", "friends", "note_set"])
def test_check_accepts_other_paths(use, path):
    use(USER_FIELDS={"nickname": path})

    assert "E224" not in ids()


@pytest.mark.parametrize("value", ["full_name", 5, [1], {"a": 1}])
def test_check_refuses_another_type_of_user_fields(use, value):
    use(USER_FIELDS=value)

    assert "E224" in ids()


def test_check_warns_of_required_fields_that_stay_empty(use, documented):
    use()
    (warning,) = [one for one in found() if one.id == "authservice.W226"]
    assert "full_name, born" in warning.msg

    documented(0)
    (warning,) = [one for one in found() if one.id == "authservice.W226"]
    assert "has born," in warning.msg  # its column may be null, so the serializer does not ask


def test_every_table_of_the_service_with_users_is_secret():
    from authservice.core.users.user_fields import is_secret, relations
    from tests.extending.people.models import User as Person

    ours = [
        one.related_model
        for one in relations(Person).values()
        if one.related_model.__module__.startswith("authservice.")
    ]

    assert len(ours) > 5
    assert all(is_secret(model) for model in ours)


def test_reserved_names_are_all_names_of_ours():
    shown = set(User.__annotations__) | set(AdminUser.__annotations__)
    asked = set(SignupIn().fields) | set(ProfileIn().fields)
    columns = {field.attname for field in Account._meta.concrete_fields}

    assert shown | asked | columns <= reserved()
