"""A person signs up, works through the account and leaves, in new projects that differ in what the
pages must not depend on. Each two values occur together in one of the runs; of languages and mounts
those of the table."""

from __future__ import annotations

import time
from itertools import combinations, product
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.by import By

from tests.pages.served.keyboard import Keyboard
from tests.pages.served.projects import POSTGRESQL, Run, served
from tests.support.browser import needs_chromium
from tests.support.needs import service
from tests.twofactor import people

NAMES = ("login", "database", "server", "size", "scheme", "scripts", "language", "mount")
_TABLE = """
stateless sqlite     gunicorn phone   light on  en server
session   postgresql uvicorn  desktop dark  off en root
stateless postgresql uvicorn  desktop dark  on  de server
session   sqlite     gunicorn phone   light off de root
stateless sqlite     gunicorn desktop dark  on  es root
session   postgresql uvicorn  phone   light off es server
stateless sqlite     uvicorn  desktop light off fr proxy
session   postgresql gunicorn phone   dark  on  fr proxy
"""
RUNS = [
    Run(**dict(zip(NAMES, line.split(), strict=True)), further=("passkeys",))
    for line in _TABLE.strip().splitlines()
]
ANN, BOB = "ann@example.com", "bob@example.com"
FIRST, SECOND, THIRD = "plum tart 42 windows", "fig tart 43 doors", "lime tart 44 roofs"


def test_runs_cover_each_pair_of_values():
    for one, other in combinations(NAMES, 2):
        pairs = {(getattr(run, one), getattr(run, other)) for run in RUNS}
        every = product(*({getattr(run, name) for run in RUNS} for name in (one, other)))
        missing = set() if {one, other} == {"language", "mount"} else set(every) - pairs
        assert missing == set(), (one, other)


@pytest.fixture(
    params=[
        pytest.param(run, marks=[service(POSTGRESQL)] if run.database == "postgresql" else [])
        for run in RUNS
    ],
    ids=str,
)
def person(request, browser, provider, tmp_path):
    with served(request.param, tmp_path, provider) as site:
        yield Keyboard(browser, site)


@pytest.mark.slow
@needs_chromium
def test_person_walks_through_every_page(person, provider):
    sign_up(person)
    backup_codes = second_factor(person)
    forgotten_password(person, backup_codes)
    by_provider(person, provider)
    organizations(person, backup_codes)
    every_section(person)
    leave(person)
    assert person.faults == []


@pytest.mark.slow
@needs_chromium
def test_lines_of_the_readme_are_enough(browser, tmp_path):
    with served(Run(size="phone", modules=False), tmp_path) as site:
        person = Keyboard(browser, site)
        sign_up(person)
        person.open("/auth/account")
        every_section(person)
        assert person.pages == {
            *("/auth/login", "/auth/signup", "/auth/verify-email", "/auth/account/profile"),
            *("/auth/account/security", "/auth/account/security/password"),
            *(
                f"/auth/account/profile/{form}"
                for form in ("name", "username", "email", "phone", "export")
            ),
        }
        person.sign_out()
        forgotten_password(person, [])
        leave(person)
        assert person.faults == []


def sign_up(person):
    """From a page of the project, and back to it."""
    person.open("/")
    assert person.follow("/auth/login") == "/auth/login"
    assert person.follow("/auth/signup") == "/auth/signup"
    assert person.press(name="Ann Lee", email=ANN, new_password="short") == "/auth/signup"
    field = person.browser.switch_to.active_element
    assert field.get_attribute("aria-invalid") == "true"
    assert field.get_attribute("autocomplete") == "new-password"
    assert person.press(new_password=FIRST) == "/orders"
    assert ANN in person.text
    person.open(person.site.link("/verify-email"))
    person.one("[role=status]")  # without a button, because it is the browser of the sign-up
    assert person.follow("/auth/login") == "/auth/account/profile"
    assert person.browser.find_elements(By.CSS_SELECTOR, ".tag.good")


def sign_in(person, password):
    person.open("/orders")
    assert person.path == "/auth/login"
    return person.enter(username=ANN, current_password=password)


def second_factor(person):
    person.open("/auth/account/security")
    assert person.follow("/security/factor") == "/auth/account/security/factor"
    assert person.press(current_password="wrong") == "/auth/account/security/factor"
    person.press(current_password=FIRST)
    shown = person.one("p > code")
    app = people.app_of(f"otpauth://totp/x?secret={shown.text}")
    listed = person.browser.find_elements(By.CSS_SELECTOR, "li > code")
    codes = [code.text for code in listed]
    assert len(codes) == 10
    assert person.press(one_time_code=app.now()) == "/auth/account/security"
    assert person.sign_out() == "/auth/logout"

    sign_in(person, FIRST)
    person.press(one_time_code=people.other_than(app.now(), app.at(time.time() + 30)))
    assert person.browser.switch_to.active_element.get_attribute("aria-invalid") == "true"
    assert person.enter(one_time_code=app.at(time.time() + 30)) == "/orders"
    person.press()
    sign_in(person, FIRST)
    assert person.press(one_time_code=codes[0]) == "/orders"
    person.press()
    return codes[1:]


def forgotten_password(person, backup_codes):
    person.open("/auth/login")
    person.follow("/forgot-password")
    person.enter(username=ANN)
    person.open(person.site.link("/reset-password"))
    person.press(new_password=SECOND)
    person.one("[role=status]")
    sign_in(person, SECOND)
    if backup_codes:
        person.press(one_time_code=backup_codes.pop())
    assert person.path == "/orders"


def by_provider(person, provider):
    """Link it, and sign in with it; another user of it gets an account."""
    provider.add_user("bob", email=BOB, email_verified=True)
    person.open("/auth/account/security")
    person.follow("/security/link?id=oidc")
    person.press(current_password=SECOND)
    assert person.approve(provider.issuer, "ann-there") == "/auth/account/security"
    assert person.sign_out() == "/auth/logout"
    person.open("/orders")
    assert person.approve("/oauth/oidc", "bob") == "/orders"
    assert BOB in person.text
    person.follow("/auth/account")
    assert person.follow("/account/security") == "/auth/account/security"
    person.sign_out()


def organizations(person, backup_codes):
    sign_in(person, SECOND)
    person.press(one_time_code=backup_codes.pop())
    person.follow("/auth/account")
    person.follow("/account/organizations")
    person.follow("/organizations/create")
    assert person.press(organization="Acme") == "/auth/account/organizations"
    person.follow("/organizations/switch")
    person.press()
    person.follow("?id=")
    person.follow("/organizations/rename")
    person.press(organization="Acme Ltd")
    assert "Acme Ltd" in person.text
    person.follow("/organizations/invite")
    person.press(off="carl@example.com")
    assert "carl@example.com" in person.text
    person.follow("/organizations/uninvite")
    person.press()
    assert person.path == "/auth/account/organizations"
    assert "carl@example.com" not in person.text


def every_section(person):
    for section in person.links("/auth/account/"):
        person.open(section)
        # The other steps have sent some of the forms. The rest is in the runs that are most narrow.
        narrow = person.run.size == "phone" and person.run.scripts == "on"
        for form in person.links(f"{urlsplit(section).path}/") if narrow else []:
            person.open(form)


def leave(person):
    person.open("/auth/account")
    person.sign_out()
    person.open("/orders")
    assert person.path == "/auth/login"
