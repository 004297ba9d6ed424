"""Uses the package in the project of `.ci/wheel`: a sign-up, its mail in German, a page, a login.

Each step needs a file that is no Python: a migration's table, a template, a catalogue. It runs with
the installed package, without the source tree.
"""

import re
import sys
import time
from importlib.metadata import files
from urllib.parse import urlsplit

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core import mail  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

ANN = {"email": "ann@example.com", "password": "plum tart 42 windows"}


def first_mail():
    """Waits for the thread that sends it."""
    end = time.monotonic() + 30
    while not mail.outbox:
        assert time.monotonic() < end, "no mail was sent"
        time.sleep(0.05)
    return mail.outbox[0]


def main():
    setup_test_environment()  # mails go to `mail.outbox`
    browser = Client(headers={"Accept-Language": "de", "Accept": "application/json"})

    signed_up = browser.post("/auth/signup", ANN, content_type="application/json")
    assert signed_up.status_code == 201, signed_up.content
    sent = first_mail()
    assert sent.subject == "Bestätigen Sie Ihre E-Mail-Adresse", sent.subject
    assert "Guten Tag," in sent.alternatives[0][0]

    link = urlsplit(re.search(r"http\S+", sent.body)[0])
    page = Client().get(f"{link.path}?{link.query}", headers={"Accept": "text/html"})
    assert b"Confirm" in page.content, page.content

    logged_in = browser.post("/auth/login", ANN, content_type="application/json")
    token = logged_in.json()["data"]["access_token"]
    me = browser.get("/auth/me", headers={"Authorization": f"Bearer {token}"})
    assert me.json()["data"]["email"] == ANN["email"], me.content

    person = Client(headers={"Accept": "text/html", "Origin": "http://testserver"})
    typed = {"identifier": ANN["email"], "password": ANN["password"]}
    form = "&".join(f"{name}={value}" for name, value in typed.items())
    assert b'name="identifier"' in person.get("/auth/login").content
    person.post("/auth/login", form, content_type="application/x-www-form-urlencoded")
    account = person.get("/auth/account/security").content
    assert b"frame" in account, account

    packed = {str(path) for path in files("authservice")}
    assert "authservice/py.typed" in packed, "py.typed is missing"
    assert "site-packages" in sys.modules["authservice"].__file__, settings.BASE_DIR


main()
