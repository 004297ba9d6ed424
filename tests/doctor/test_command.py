"""What the command prints, in which form, with which status and within which time."""

import json
import re
import time
from io import StringIO

import pytest
from django.core.management import call_command

from authservice.core.doctor import report
from authservice.kernel import checks
from authservice.kernel.checks import Finding
from tests.doctor import servers
from tests.doctor.conftest import KEY
from tests.example.test_example import recipe
from tests.hosts.runs import python
from tests.hosts.servers import own_database
from tests.notification.servers import Silent
from tests.support import needs
from tests.support.ports import free_port


@pytest.fixture
def doctor(production):
    """`doctor("--format", "json")` is the status and the output of the command."""

    def run(*arguments):
        out, status = StringIO(), 0
        try:
            call_command("authservice_doctor", *arguments, stdout=out, no_color=True)
        except SystemExit as end:
            status = end.code
        return status, out.getvalue()

    return run


def test_command_prints_a_line_for_each_area(doctor):
    status, output = doctor()

    states = dict(areas_of(output))
    assert status == 0
    assert set(states) >= {"settings", "database", "cache", "keys", "mail", "worker", "cleanup"}
    assert set(states.values()) == {"ok"}
    assert (
        output.rstrip()
        .splitlines()[-1]
        .startswith(f"{len(states)} areas: {len(states)} ok, 0 attention, 0 broken (")
    )


def areas_of(output):
    """The area and the state of each line that begins with a state."""
    found = re.findall(r"^(ok|attention|broken) +(\w+) ", output, re.MULTILINE)
    return [(area, state) for state, area in found]


def test_broken_installation_has_status_1_and_says_what_to_do(doctor, mail_with):
    mail_with(port=free_port())

    status, output = doctor()

    assert status == 1
    assert dict(areas_of(output))["mail"] == "broken"
    assert "Change: " in output
    assert "Next: " in output
    assert " ok, 0 attention, 1 broken (" in output


def test_installation_that_needs_attention_has_status_0(doctor, production):
    production.SESSION_COOKIE_SECURE = production.CSRF_COOKIE_SECURE = False

    status, output = doctor()

    assert (status, dict(areas_of(output))["cookies"]) == (0, "attention")


def test_json_has_the_findings_by_area(doctor, mail_with):
    mail_with(port=free_port())

    status, output = doctor("--format", "json")

    areas = {entry.pop("area"): entry for entry in json.loads(output)["areas"]}
    assert status == 1
    assert json.loads(output)["state"] == "broken"
    assert areas["database"]["state"] == "ok"
    (finding,) = areas["mail"]["findings"]
    assert set(finding) == {"state", "text", "settings", "remedy"}


def test_mail_is_sent_with_the_option_only(doctor, mails):
    mails.recipients.clear()
    doctor()
    assert mails.recipients == []

    status, output = doctor("--send-to", "ops@example.com")

    assert (status, mails.recipients) == (0, ["ops@example.com"])
    assert "ops@example.com" in output


def test_output_has_no_secret_that_an_error_quotes(production, monkeypatch):
    quoted = f"{KEY} {servers.PASSWORD} https://shop:the-url-password@example.com"
    production.AUTHSERVICE["OAUTH"] = {"PROVIDERS": {"oidc": {"CLIENT_SECRET": "client-secret"}}}
    production.BROKER = "amqp://shop:the-url-password@broker.example.com"

    def failing(visit):
        raise RuntimeError(f"{quoted} client-secret")
        yield

    monkeypatch.setattr(report, "_OF_CORE", (failing,))
    found = report.examine().findings

    (finding,) = [it for it in found if "failing" in it.text]
    for secret in (KEY, servers.PASSWORD, "the-url-password", "client-secret"):
        assert secret not in str(finding)
    assert "RuntimeError" in finding.text


def test_server_that_never_answers_takes_its_time_limit_only(production, mail_with, monkeypatch):
    monkeypatch.setattr(checks, "CALL", 0.4)
    with Silent() as server:
        mail_with(port=server.port)
        began = time.monotonic()
        found = report.examine().findings

    (finding,) = [it for it in found if it.area == "mail"]
    assert "cannot be reached" in finding.text or "SMTPServerDisconnected" in finding.text
    assert time.monotonic() - began < 5


def test_nothing_is_asked_after_the_time_of_the_whole_command(production, monkeypatch):
    monkeypatch.setattr(checks, "WHOLE", 0)

    found = report.examine().findings

    assert "not asked" in next(it.text for it in found if it.area == "mail")


def test_examination_of_a_project_is_run(production, monkeypatch):
    def shop(visit):
        yield Finding(area="shop", state="attention", text="No goods.", remedy="Order some.")

    monkeypatch.setattr(checks, "examinations_of_modules", lambda: [("shop", shop)])

    areas = {area: state for area, state, _ in report.examine().by_area()}

    assert list(areas.items())[-1] == ("shop", "attention")


# The documented commands, with the servers that they name


@needs.service("redis://127.0.0.1:6379")
def test_production_recipe_of_the_docs_is_ok(tmp_path, mails):
    variables, _ = recipe()
    with own_database("doctor", tmp_path) as url:
        variables |= {"DATABASE_URL": url, "EMAIL_URL": f"smtp://127.0.0.1:{mails.port}"}
        migrated = python("example_project/manage.py", "migrate", "-v", "0", **variables)
        assert migrated.returncode == 0, migrated.stdout
        run = python("example_project/manage.py", "authservice_doctor", **variables)

    assert run.returncode == 0, run.stdout
    assert {state for _, state in areas_of(run.stdout)} == {"ok"}
    assert ("The clock of the database" in run.stdout) is not url.startswith("sqlite")
    assert "The clock of the cache 'default' agrees." in run.stdout


def test_key_file_that_cannot_be_read_is_named_by_each_command(tmp_path):
    settings = tmp_path / "project_settings.py"
    settings.write_text(
        "from authservice.key_file import load\n"
        "from example_project.settings import *\n"
        f"AUTHSERVICE['SIGNING_KEYS'] = load({str(tmp_path / 'keys.json')!r})\n"
    )
    variables = {"DJANGO_SETTINGS_MODULE": "project_settings", "PYTHONPATH": str(tmp_path)}
    run = python("example_project/manage.py", "authservice_doctor", **variables)

    assert run.returncode == 1
    assert "The key file cannot be read" in run.stdout
    assert str(tmp_path / "keys.json") in run.stdout
