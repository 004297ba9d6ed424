"""The helpers for tests of host projects."""

import jwt
import pytest

from authservice import testing
from tests.organization.inside.people import role_of

pytestmark = pytest.mark.django_db


def test_organization_with_members_and_a_switched_client(ann, bob):
    organization = testing.make_organization(ann.user, "Löwen", admin=[bob.user])

    client = testing.ApiClient().log_in(bob.user).switch(organization)

    claims = jwt.decode(client.tokens.access_token.reveal(), options={"verify_signature": False})
    assert (claims["org_id"], claims["org_role"]) == (str(organization.pk), "admin")
    assert client.get(f"org/{organization.pk}").data["owner_id"] == ann.id
    assert role_of(organization.pk, bob) == "admin"


def test_switch_to_a_foreign_organization_raises(ann, bob):
    organization = testing.make_organization(ann.user)

    with pytest.raises(AssertionError, match="ORG_NOT_MEMBER"):
        testing.ApiClient().log_in(bob.user).switch(organization)
