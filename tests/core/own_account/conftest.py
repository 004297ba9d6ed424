import pytest

from tests.core.own_account.owner import Owner


@pytest.fixture
def owner(api, ann):
    """Ann, who has just signed up."""
    return Owner(api, ann["access_token"], ann["user"]["id"])
