"""System checks reject settings that would lose entries or store them in another database."""

from authservice.audit.checks import check_audit


class Elsewhere:
    def db_for_write(self, model, **_):
        return "elsewhere" if model._meta.app_label == "authservice_audit" else None

    db_for_read = db_for_write


def found():
    return [message.id.partition(".")[2] for message in check_audit()]


def test_audit_checks_accept_the_defaults():
    assert found() == []


def test_audit_check_reports_log_in_another_database(settings):
    settings.DATABASE_ROUTERS = ["tests.audit.inside.test_checks.Elsewhere"]

    assert found() == ["E154"]
