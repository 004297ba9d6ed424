"""System checks reject settings that would lose entries or store them in another database."""

from datetime import timedelta

import pytest

from authservice.audit.checks import check_audit


class Elsewhere:
    def db_for_write(self, model, **_):
        return "elsewhere" if model._meta.app_label == "authservice_audit" else None

    db_for_read = db_for_write


def found():
    return [message.id.partition(".")[2] for message in check_audit()]


def test_audit_checks_accept_the_defaults():
    assert found() == []


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({"EXCLUDE": ["auth.logout"]}, []),
        ({"EXCLUDE": ["auth.log_out"]}, ["E150"]),
        ({"EXCLUDE": ["auth."]}, ["E150"]),
        ({"RETENTION": {"auth.login.": timedelta(days=1), "security.": None, "org.": 60}}, []),
        ({"RETENTION": {"login.": 60}}, ["E151"]),
        ({"RETENTION": {7: 60}}, ["E151"]),
        ({"RETENTION": {"auth.": "90 days"}}, ["E152"]),
        ({"RETENTION": {"auth.": -1}}, ["E152"]),
        ({"CLEANUP_LIMIT": 0}, ["E153"]),
    ],
    ids=str,
)
def test_audit_check_reports_invalid_setting(configure, given, ids):
    configure(AUDIT=given)

    assert found() == ids


def test_audit_check_reports_log_in_another_database(settings):
    settings.DATABASE_ROUTERS = ["tests.audit.inside.test_checks.Elsewhere"]

    assert found() == ["E154"]
