"""An organization for each user who signs up."""

import pytest

from authservice.organization.models import Organization
from tests.organization.inside.test_answering import NEW
from tests.organization.inside.test_invitations import KIND, invite

pytestmark = pytest.mark.django_db


def names():
    return set(Organization.objects.values_list("name", flat=True))


def test_sign_up_makes_no_organization_by_default(api):
    api.sign_up()

    assert names() == set()


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"name": "Ann B. Cee", "username": "bee"}, "Ann B. Cee's organization"),
        ({"username": "bee"}, "bee's organization"),
        ({"name": "a" * 255}, "a" * 255),
    ],
)
def test_sign_up_makes_an_organization_named_after_the_user(api, organization, body, name):
    organization(AUTO_CREATE=True)

    data = api.sign_up(**body)

    assert names() == {name}
    [own] = data["data"]["organizations"]
    assert own["role"] == "owner"


def test_name_pattern_is_a_setting(api, organization):
    organization(AUTO_CREATE=True, AUTO_CREATE_NAME="Team {name}")

    api.sign_up(name="Ann")

    assert names() == {"Team Ann"}


def test_user_who_accepts_an_invitation_to_an_organization_gets_no_other(
    ann,
    acme,
    post,
    accept,
    organization,
):
    organization(AUTO_CREATE=True)
    invite(ann, acme)

    assert accept(post.token(KIND), **NEW).status == 200
    assert names() == {"Acme"}


def test_failed_sign_up_leaves_no_organization(api, ann, organization):
    organization(AUTO_CREATE=True)

    api.post("signup", email=ann.email, password="plum tart 42 windows")

    assert names() == set()
