import pytest

from authservice.core.messages import kinds
from tests.core.own_account.owner import EVE, Owner
from tests.support.flows import prove


@pytest.fixture
def owner(api, ann):
    """Ann, who has just signed up."""
    return Owner(api, ann["access_token"], ann["user"]["id"])


@pytest.fixture
def proven_owner(owner):
    """The same, with an address and a number that are proven."""
    prove(phone="+4930123456")
    return owner


@pytest.fixture
def requested(proven_owner, post):
    """`requested(email)`: the token of the link to the address that Ann requested."""

    def requested(email=EVE):
        answer = proven_owner.move(email)
        assert answer.status == 200, answer.body
        return post.token(kinds.CHANGE_EMAIL)

    return requested
