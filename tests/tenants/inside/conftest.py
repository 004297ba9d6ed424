"""Two tenants, whose schemas are those of one test database, and the mails that were sent."""

from __future__ import annotations

import os
import re
import time
from contextlib import closing
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import override_settings, setup_databases, teardown_databases
from django_tenants.utils import schema_context

from tests.notification import celery_app
from tests.notification.celery_project import LOG, CeleryProject
from tests.support.client import Answer, Api
from tests.support.mailing import mail_settings
from tests.tenants.customers.models import Customer, Domain

FOLDER = Path(os.environ["TEST_MAILS"])
PATIENCE = 60  # seconds, in which a worker of Celery starts


class Tenant:
    """Requests to the host of a tenant, and rows in its schema."""

    def __init__(self, name: str) -> None:
        self.name = name
        customer = Customer.objects.create(schema_name=name, name=name.title())
        Domain.objects.create(domain=f"{name}.example.com", tenant=customer)

    def request(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        host = f"{self.name}.example.com"
        try:
            return Api().request(method, path, body, headers={"Host": host}, **options)
        finally:
            connection.set_schema_to_public()  # no request inherits the schema of another one

    def get(self, path: str, token: str = "") -> Answer:
        return self.request("GET", path, token=token)

    def post(self, path: str, **body: Any) -> Answer:
        return self.request("POST", path, body)

    def count(self, model: Any) -> int:
        with schema_context(self.name):
            return int(model.objects.count())


END = b"-" * 79 + b"\n"


class Mails:
    """The mails in a folder, in the order in which they were sent."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.read = folder, 0
        self.found: dict[tuple[str, int], Any] = {}

    def all(self) -> list[Any]:
        """Django names a file by the second and by the address of an object in memory, so the mails
        of a second may be in one file."""
        files = sorted(self.folder.glob("*.log"), key=lambda file: file.stat().st_mtime_ns)
        for file in files:
            # A mail is whole if the line that Django writes below it is there.
            whole = [] if file.name == LOG else file.read_bytes().split(END)[:-1]
            for number, text in enumerate(whole):
                if (file.name, number) not in self.found:
                    mail = message_from_bytes(text, policy=policy.default)
                    self.found[file.name, number] = mail
        return list(self.found.values())

    def next(self) -> str:
        """The text of the next mail, once it is there."""
        deadline = time.monotonic() + PATIENCE
        while len(mails := self.all()) <= self.read:
            assert time.monotonic() < deadline, f"no mail was sent; {self._log()}"
            time.sleep(0.05)
        self.read += 1
        return str(mails[self.read - 1].get_body(("plain",)).get_content())

    def _log(self) -> str:
        log = self.folder / LOG
        return log.read_text() if log.exists() else "there is no worker"

    def link(self) -> str:
        """The path and the query of the link in the next mail, below the mount of the service."""
        return re.search(r"http://testserver/auth/(\S+)", self.next())[1]


@pytest.fixture(autouse=True, scope="module")
def _database(django_db_blocker):
    """A test database in which nothing is rolled back: workers see what was committed. The runner
    of the tests has replaced the mail settings of the project."""
    folder = mail_settings("filebased", file_path=str(FOLDER))
    with django_db_blocker.unblock(), override_settings(**folder):
        made = setup_databases(verbosity=0, interactive=False)
        yield
        teardown_databases(made, verbosity=0)


@pytest.fixture(scope="module")
def tenants(_database):
    return Tenant("acme"), Tenant("globex")


@pytest.fixture(scope="module")
def mails(tenants):
    if os.environ["DISPATCHER"] != "celery":
        yield Mails(FOLDER)
        return
    celery_app.app.set_default()  # for the thread that publishes
    name = connection.settings_dict["NAME"]
    url = os.environ["DATABASE_URL"].rpartition("/")[0] + f"/{name}"
    variables = {"DJANGO_SETTINGS_MODULE": "tests.tenants.settings", "DATABASE_URL": url}
    broker, queue = os.environ["TEST_BROKER"], os.environ["TEST_QUEUE"]
    with closing(CeleryProject(FOLDER, broker, queue, **variables)) as project:
        project.start_worker()
        yield Mails(FOLDER)
