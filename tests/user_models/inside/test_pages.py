"""The pages of a project whose users have another name than a username."""

import pytest
from django.contrib.auth import get_user_model
from django.test import override_settings

from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.mounted import mounted
from tests.user_models.inside.users import NAME, NATURAL, make_user

pytestmark = pytest.mark.django_db

MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "authservice.middleware.AuthserviceMiddleware",
]
NEW = {
    "number": "12",
    "code": "0f9619ff-8b86-d011-b42d-00c04fc964ff",
    "phone": "+919876543211",
    "rank": "chief",
}


@pytest.fixture(autouse=True, scope="module")
def _pages():
    with (
        override_settings(MIDDLEWARE=MIDDLEWARE, ROOT_URLCONF="tests.pages.inside.urls"),
        mounted("authservice.pages"),
    ):
        yield


def test_user_signs_in_with_the_name_of_the_model():
    make_user()
    person = Person()
    page = person.open("/auth/login")
    assert f">{NATURAL.capitalize()}</label>" in page.html

    page = person.send(page, identifier=NAME, password=PASSWORD)

    assert (page.heading, person.name) == ("Profile", NAME)


def test_visitor_signs_up_with_the_name_of_the_model():
    person = Person()
    page = person.open("/auth/signup")
    assert f">{NATURAL.capitalize()}</label>" in page.html

    page = person.send(page, username=NEW[NATURAL], password=PASSWORD)

    assert page.heading == "Profile"
    assert str(getattr(get_user_model().objects.get(), NATURAL)) == NEW[NATURAL]
