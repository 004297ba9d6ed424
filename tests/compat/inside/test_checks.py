"""System checks: settings under which no token of simplejwt can be traded."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.checks import run_checks

from authservice.compat.simplejwt import checks

NOW = datetime.now(UTC)
BEFORE, UNTIL = NOW, NOW + timedelta(days=30)


def found():
    ids = ("E210", "E211", "E212", "W213", "W214", "W215")
    return [issue.id[-4:] for issue in run_checks(tags=["authservice"]) if issue.id[-4:] in ids]


def test_complete_settings_have_no_issue(trades):
    assert found() == []


def test_no_settings_have_no_issue():
    assert found() == []


@pytest.mark.parametrize("keys", [{"TRADE_ISSUED_BEFORE": BEFORE}, {"TRADE_UNTIL": UNTIL}])
def test_one_of_the_two_trade_times_without_the_other_is_reported(configure, keys):
    configure(SIMPLEJWT=keys)

    assert found() == ["E210"]


def test_missing_block_list_is_reported(trades, monkeypatch):
    monkeypatch.setattr(checks, "is_installed", lambda: False)

    assert found() == ["E211"]


class Elsewhere:
    def db_for_write(self, model, **_):
        return "other" if model._meta.app_label == "token_blacklist" else None


def test_block_list_in_another_database_is_reported(trades, settings):
    settings.DATABASE_ROUTERS = [Elsewhere()]

    assert found() == ["E212"]


def test_end_of_the_trades_is_reported(trades):
    trades(UNTIL=NOW - timedelta(days=1))

    assert found() == ["W213"]


def test_cookie_that_is_never_read_is_reported(configure):
    configure(SIMPLEJWT={"TRADE_COOKIE": "refresh"})

    assert found() == ["W214"]


@pytest.mark.parametrize("name", ["REST_AUTH", "DJOSER", "REST_KNOX"])
def test_setting_of_a_removed_package_is_reported(settings, name):
    setattr(settings, name, {})

    assert found() == ["W215"]


@pytest.mark.parametrize("wrong", ["2030-01-01", datetime(2030, 1, 1), 5])
def test_time_without_a_time_zone_is_reported(configure, wrong):
    configure(SIMPLEJWT={"TRADE_UNTIL": wrong})
    texts = [issue.msg for issue in run_checks(tags=["authservice"])]

    assert [text for text in texts if "must be a datetime with a time zone" in text]
