"""Settings with which nobody can accept an invitation are reported by system checks."""

import pytest
from django.core.checks import run_checks

from authservice.kernel.modules import plugged


@pytest.fixture
def ids():
    """The ids of the checks of this module that report something."""

    def ids():
        found = [str(check.id).removeprefix("authservice.") for check in run_checks(databases=[])]
        return [id_ for id_ in found if id_[1:3] == "18"]

    return ids


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"WHO_MAY_INVITE": "super_admins"},
        {"WHO_MAY_INVITE": "tests.invitation.invites.is_ann"},
        {"TTL": 3600, "KEPT": 0, "MAX_PENDING_PER_EMAIL": 5, "ALLOWED_PURPOSES": ["beta"]},
    ],
)
def test_valid_settings_pass_the_checks(ids, invitation, keys):
    invitation(**keys)

    assert ids() == []


def test_module_without_a_messenger_is_a_warning(ids):
    with plugged("messenger", None):
        assert ids() == ["W180"]


def test_required_phone_verification_is_a_warning(ids, configure):
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert ids() == ["W185"]
