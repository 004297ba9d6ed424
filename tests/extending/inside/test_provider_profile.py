"""Fields of the project that a new account takes from the profile of a provider."""

import pytest
from django.core.checks import run_checks

from tests.extending.people.models import User
from tests.oauth.browsing import Browser, profile
from tests.oauth.in_process import SETTINGS, office

pytestmark = pytest.mark.django_db

ANN = {"name": "Ann Lee", "first_name": "Ann", "last_name": "Lee"}


@pytest.fixture
def sign_in(api, configure):
    """`sign_in({"full_name": "name"}, name="Ann Lee")` creates an account with this setting."""

    def go(fields, **claims):
        office.reset()
        configure(OAUTH={"PROVIDERS": {"acme": SETTINGS}, "PROFILE_FIELDS": fields})
        answer = Browser(api).sign_in(profile(**claims))
        assert answer.data["is_new_user"] is True
        return User.objects.get()

    return go


@pytest.mark.parametrize(
    ("fields", "full_name"),
    [
        ({}, ""),
        ({"full_name": "name"}, "Ann Lee"),
        ({"full_name": "first_name"}, "Ann"),
        ({"full_name": "avatar"}, "https://example.com/ann.png"),
    ],
)
def test_field_is_filled_from_the_profile(sign_in, fields, full_name):
    user = sign_in(fields, avatar="https://example.com/ann.png", **ANN)

    assert user.full_name == full_name


@pytest.mark.parametrize(
    ("name", "full_name"),
    [("x" * 300, "x" * 80), ("Ann\x00 \nLee", "Ann Lee"), ("", ""), ("\ud800", "")],
    ids=["long", "control characters", "empty", "half a surrogate"],
)
def test_value_that_does_not_fit_refuses_no_login(sign_in, name, full_name):
    assert sign_in({"full_name": "name"}, name=name).full_name == full_name


def test_value_that_the_field_refuses_is_left_out(sign_in):
    assert sign_in({"born": "name", "full_name": "name"}, **ANN).born is None


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"unknown": "name"}, "'unknown' is no field"),
        ({"email": "name"}, "'email' is no field"),
        ({"is_staff": "name"}, "'is_staff' is no field"),
        ({"password": "name"}, "'password' is no field"),
        ({"friends": "name"}, "'friends' is no field"),
        ({"initials": "name"}, "'initials' is no field"),
        ({"full_name": "subject"}, "is 'subject', which is none of"),
    ],
)
def test_check_refuses_a_mapping_that_cannot_work(configure, fields, named):
    configure(OAUTH={"PROVIDERS": {"acme": SETTINGS}, "PROFILE_FIELDS": fields})

    [error] = [one for one in run_checks(databases=[]) if one.id == "authservice.E203"]
    assert named in error.msg
