"""Runs the shell blocks of the README and of docs/curl.rst against the example project."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
import tomllib
import urllib.request
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from django.db import connection

from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
PHONE = "+4930123456"
# Where readers are given other addresses to type.
ELSEWHERE = [
    ROOT / "docs" / f"{name}.rst" for name in ("console", "start", "google_on_your_laptop")
]
# All tests share port 8000, so one worker runs them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tour")]


def blocks():
    """The indented shell blocks that start or call the service."""
    pages = "".join((ROOT / name).read_text() for name in ("README.rst", "docs/curl.rst"))
    found = re.findall(r"::(?: sh)?\n\n((?:   .*\n|\n)+)", pages)
    return [textwrap.dedent(block) for block in found]


def tour(text):
    return next(block for block in blocks() if text in block)


def answers_on(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def environment(tmp_path, django_db_blocker):
    """The environment of a new user, with an empty database on the server of the suite."""
    url = os.environ.get("DATABASE_URL", "")
    if connection.vendor == "sqlite":
        url = f"sqlite:///{tmp_path / 'tour.sqlite3'}"
    else:
        url = re.sub(r"/[^/]*$", "/authservice_tour", url)
        with django_db_blocker.unblock():
            recreate()
    return {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "example_project.settings"}


def recreate():
    statements = ["DROP DATABASE IF EXISTS authservice_tour", "CREATE DATABASE authservice_tour"]
    with connection._nodb_cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def here(script):
    """The script with the Python of the tests, and with the example project of this tree."""
    script = script.replace(".venv/bin/python", sys.executable)
    return script.replace("example_project/manage.py", str(ROOT / "example_project/manage.py"))


def setup():
    """The commands of the README that download, install and start the service."""
    return [line.split(" && ") for line in tour("git clone").strip().splitlines()]


def run(script, environment, cwd):
    """Run a block in its own folder, end its processes and return its output."""
    script = here(script)
    shell = ["bash", "-euo", "pipefail", "-c", script]
    with (cwd / "printed").open("w+") as printed, (cwd / "log").open("w") as log:
        with started(shell, environment, cwd, printed, log) as tour:
            code = tour.wait(timeout=90)
        printed.seek(0)
        text = printed.read()
    assert code == 0, text
    return text


@contextmanager
def started(command, environment, cwd, printed=subprocess.DEVNULL, log=subprocess.DEVNULL):
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdout=printed,
        stderr=log,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            end(process)


def end(process):
    try:
        os.killpg(process.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    for _ in range(100):
        if not answers_on(8000):
            return
        time.sleep(0.1)


@contextmanager
def serving(environment, port, printed=subprocess.DEVNULL, *, given="", command="", folder=ROOT):
    """The service, started as by the second command of the README, or by another one."""
    script = given + here(command or setup()[1][-1])
    with started(["bash", "-euc", script], environment, folder, printed):
        for _ in range(300):
            if answers_on(port):
                break
            time.sleep(0.1)
        yield


@pytest.fixture
def service(environment):
    with serving(environment, 8000):
        yield


def json_answers(output):
    """The JSON answers that the tour printed, in order."""
    decoder, answers, rest = json.JSONDecoder(), [], output
    while "{" in rest:
        try:
            answer, length = decoder.raw_decode(rest[rest.index("{") :])
            answers.append(answer["data"])
            rest = rest[rest.index("{") + length :]
        except (ValueError, KeyError, TypeError):
            rest = rest[rest.index("{") + 1 :]
    return answers


def test_setup_is_two_commands_that_install_what_exists():
    [clone, enter], [environment, install, _] = setup()
    extras, requirements = install.partition("-e '.[")[2].split("]' -r ")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert [clone, enter] == [f"git clone {project['urls']['Source']}", "cd authservice"]
    assert environment == "python3 -m venv .venv"
    assert install.startswith(".venv/bin/pip install -q -e ")
    assert set(extras.split(",")) <= project["optional-dependencies"].keys()
    assert (ROOT / requirements).is_file()


@pytest.mark.parametrize("port", ["the default", "another"])
def test_first_tour_ends_with_refused_token(port, environment, tmp_path):
    # As in the terminals of a reader, who runs the block that names the port in both.
    export = tour("export AUTHSERVICE_API_URL") if port == "another" else ""
    number = int(export.rpartition(":")[2]) if export else 8000
    assert not answers_on(number)
    with serving(environment, number, given=export):
        script = export + tour("# Sign up, and see who you are.")
        answers = json_answers(run(script, environment, tmp_path))

    assert [answers[0]["email"], answers[1]["message"], answers[2]["code"]] == [
        "dora@example.com",
        "Logged out.",
        "INVALID_TOKEN",
    ]


def test_block_begins_again_with_an_empty_database(environment, tmp_path):
    folder = tmp_path / "example_project"
    mails = [folder / "mailbox" / "one.eml", tmp_path / "mail" / "new" / "two.eml"]
    for mail in mails:
        mail.parent.mkdir(parents=True)
        mail.touch()
    environment["DATABASE_URL"] = f"sqlite:///{folder / 'db.sqlite3'}"
    environment["AUTHSERVICE_MAILBOX"] = str(folder / "mailbox")
    for command in ("", tour("rm -rf")):
        with serving(environment, 8000, command=command, folder=tmp_path):
            ask("signup", email="gil@example.com", password="plum tart 42 windows")

    assert not any(mail.exists() for mail in mails)


def addresses(text):
    return {address.lower() for address in re.findall(r"[\w.]+@example\.com", text)}


def test_tours_and_shop_share_no_address():
    shop = addresses("".join(path.read_text() for path in ELSEWHERE)) | {"ann@example.com"}
    tours = [addresses(tour(text)) for text in ("# Sign up, and see who you are.", "aiosmtpd")]

    assert all(tours)
    assert tours[0].isdisjoint(tours[1])
    assert shop.isdisjoint(tours[0] | tours[1])


def test_tour_with_mail_ends_with_login_with_new_password(environment, tmp_path):
    output = run(tour("aiosmtpd"), environment, tmp_path)
    answers = json_answers(output)

    assert [answer["status"] for answer in answers[:2]] == ["signed_in", "success"]
    assert answers[-1]["user"]["email_verified"] is True
    # The service sends its last mail before the SMTP server stops.
    log = (tmp_path / "log").read_text()
    assert "Starting gunicorn" in log
    assert "authservice.notification" not in log


@pytest.fixture(params=["terminal", "folder", "server"])
def read_mails(request, environment, tmp_path):
    """Starts the service; `read_mails()` is the source of its mails, where a developer reads it."""
    folder, terminal = tmp_path / "mail", tmp_path / "printed"
    environment["AUTHSERVICE_MAILBOX"] = str(tmp_path / "mailbox")
    environment.pop("EMAIL_URL", None)
    with ExitStack() as running, terminal.open("w") as printed:
        if request.param == "folder":
            environment["EMAIL_URL"] = f"filemail:///{folder}"
        elif request.param == "server":
            port = free_port()
            environment["EMAIL_URL"] = f"smtp://127.0.0.1:{port}"
            server = [sys.executable, "-m", "aiosmtpd", "-n", "-l", f"127.0.0.1:{port}"]
            server += ["-c", "aiosmtpd.handlers.Mailbox", str(folder)]
            running.enter_context(started(server, environment, tmp_path))
        running.enter_context(serving(environment, 8000, printed))

        def read():
            # A server writes a mail to `tmp` first, and moves it when it is complete.
            mails = (path for path in folder.rglob("*") if path.parent.name != "tmp")
            files = [path for path in mails if path.is_file()]
            return "\n".join(path.read_text() for path in (terminal, *files))

        yield read


def test_link_copied_from_the_source_of_a_mail_verifies_the_address(read_mails):
    ask("signup", email="fay@example.com", password="plum tart 42 windows")
    links = re.compile(r"^http\S*/verify-email\S*$", re.MULTILINE)
    for _ in range(100):
        if copied := links.findall(read_mails()):
            break
        time.sleep(0.1)

    # As in docs/curl.rst; a browser gets a page with a button first.
    answer = json.loads(subprocess.check_output(["curl", "-sS", copied[-1]], text=True))
    assert answer["data"]["status"] == "success"
    login = ask("login", email="fay@example.com", password="plum tart 42 windows")
    assert login["user"]["email_verified"] is True


class Hook(BaseHTTPRequestHandler):
    texts: list[dict] = []

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.texts.append(json.loads(self.rfile.read(length)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture
def hook(environment):
    server = HTTPServer(("127.0.0.1", 0), Hook)
    Thread(target=server.serve_forever, daemon=True).start()
    environment["SMS_WEBHOOK_URL"] = f"http://127.0.0.1:{server.server_port}/"
    yield Hook.texts
    server.shutdown()
    server.server_close()


def ask(path, **body):
    request = urllib.request.Request(
        f"http://localhost:8000/auth/{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["data"]


def test_number_is_verified_with_the_code_sent_to_the_webhook(hook, service):
    ask("signup", email="cy@example.com", password="plum tart 42 windows", phone_number=PHONE)
    ask("send-verification-phone", phone=PHONE)
    for _ in range(50):
        if hook:
            break
        time.sleep(0.1)
    code = re.search(r"\b\d{6}\b", hook[-1]["body"]).group()

    ask("verify-phone", phone=PHONE, code=code)

    login = ask("login", email="cy@example.com", password="plum tart 42 windows")
    assert login["user"]["phone_number_verified"] is True
