"""Wrong settings are reported by system checks."""

from datetime import timedelta

import pytest
from django.core.checks import run_checks

from authservice.kernel.modules import plugged


def ids():
    return {found.id for found in run_checks() if found.id.startswith("authservice.")}


OURS = {f"authservice.{name}" for name in ("E190", "E191", "E192", "E193", "W194", "E195")}


def test_default_settings_report_nothing(db):
    assert not ids() & OURS


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"MAX_MEMBERS": -1}, "E190"),
        ({"MAX_PER_USER": -1}, "E190"),
        ({"INVITATION_TTL": timedelta(0)}, "E191"),
        ({"AUTO_CREATE_NAME": ""}, "E192"),
        ({"AUTO_CREATE_NAME": "{email}"}, "E192"),
        ({"AUTO_CREATE_NAME": "{name"}, "E192"),
        ({"AUTO_CREATE_NAME": "{name.x}"}, "E192"),
        ({"INVITATIONS_KEPT": timedelta(-1)}, "E193"),
        ({"WHO_MAY_CREATE": "nobody"}, "E195"),
        ({"WHO_MAY_CREATE": "tests.organization.inside.missing"}, "E195"),
    ],
)
def test_wrong_setting_is_reported(db, organization, keys, expected):
    organization(**keys)

    assert ids() & OURS == {f"authservice.{expected}"}


def test_missing_messenger_is_reported(db):
    with plugged("messenger", None):
        assert "authservice.W194" in ids()
