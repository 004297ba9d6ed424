"""System checks report settings that apps would misread or that are out of range."""

from datetime import timedelta

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from authservice.twofactor.apps import TwoFactorConfig


@pytest.fixture
def ids():
    return lambda: [
        check.id for check in run_checks(databases=[]) if "authservice.E" in str(check.id)
    ]


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"ISSUER": "Plum & Tart", "REQUIRED": "everybody", "REMEMBER_TTL": timedelta(days=30)},
        {"REQUIRED": "staff"},
    ],
)
def test_valid_settings_pass_the_checks(ids, configure, keys):
    configure(TWOFACTOR=keys)

    assert ids() == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"REQUIRED": True}, "authservice.E002"),
        ({"REQUIRED": "superusers"}, "authservice.E002"),
        ({"REQUIRE": "everybody"}, "authservice.E001"),
    ],
)
def test_invalid_settings_are_an_error(ids, configure, keys, expected):
    configure(TWOFACTOR=keys)

    assert ids() == [expected]


def test_missing_extra_is_named_in_the_error(monkeypatch):
    monkeypatch.setattr("authservice.twofactor.apps.find_spec", lambda name: None)
    config = TwoFactorConfig.create("authservice.twofactor")

    with pytest.raises(ImproperlyConfigured, match=r"pip install 'authservice\[twofactor\]'"):
        config.import_models()
