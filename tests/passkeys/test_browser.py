"""Passkeys on the pages in a real Chromium, whose authenticators are virtual.

Whatever Chromium signs is also given to a second verifier, the server of `fido2`, which must agree
with this service; then each answer is changed in one place, and both must refuse it.
"""

from collections import Counter
from contextlib import ExitStack
from itertools import count

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.served.projects import POSTGRESQL, Run, served
from tests.passkeys.both_verifiers import Verifiers
from tests.passkeys.documented import LIFE_OF_A_PASSKEY, Documented
from tests.passkeys.recorded import record, taken
from tests.passkeys.virtual import PLATFORM, SECURITY_KEY, SYNCED, Virtual, devtools
from tests.support.browser import chromium, console_errors, needs_chromium
from tests.support.client import PASSWORD
from tests.support.needs import service

pytestmark = [pytest.mark.slow, needs_chromium]

# Each login module with each database; at the root, and below a prefix that the server or a proxy
# knows.
RUNS = [
    Run(login="stateless", database="sqlite", further=("passkeys",)),
    Run(login="session", database="sqlite", mount="proxy", further=("passkeys",)),
    Run(login="stateless", database="postgresql", mount="server", further=("passkeys",)),
    Run(login="session", database="postgresql", server="uvicorn", further=("passkeys",)),
]
SECURITY = "/auth/account/security"
_NUMBERS = count(1)
# For what does not depend on the login module, the database or the mount.
once = pytest.mark.parametrize("site", RUNS[:1], indirect=True, ids=str, scope="module")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    here = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"
    with chromium(tmp_path_factory.mktemp("passkeys"), here) as browser:
        record(browser)
        yield browser


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(run, marks=[service(POSTGRESQL)] if run.database == "postgresql" else [])
        for run in RUNS
    ],
    ids=str,
)
def site(request, tmp_path_factory):
    with served(request.param, tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture
def tools(browser):
    with devtools(browser) as tools:
        yield tools


@pytest.fixture
def device(tools):
    """`device(SECURITY_KEY)` is an authenticator that the user has."""
    with ExitStack() as stack:

        def add(options):
            added = Virtual(tools, options)
            stack.callback(added.remove)
            return added

        yield add


@pytest.fixture
def person(browser, site, passkeys, configure, tools):
    """A new user, signed in. What the browser signs is verified twice when the test ends."""
    origin = site.url.removesuffix(site.run.prefix)
    passkeys(RP_ID="localhost", ORIGINS=[origin])
    browser.get(f"{site.url}/")
    browser.delete_all_cookies()
    browser.execute_script("localStorage.clear()")
    console_errors(browser)
    person = Person(browser, site)
    person.sign_up()
    yield person
    assert [one for one in console_errors(browser) if " 400 " not in one] == []
    made = person.made()
    recorded = Counter(one["kind"] for one in made)
    signed = signed_by_devices(tools)
    assert set(recorded) == set(signed)
    # To learn which of several passkeys a key has, the browser asks it without telling the page.
    assert person.pressed <= recorded <= signed
    Verifiers("localhost", origin).agree(made)


def signed_by_devices(tools):
    """How often the devices did what pages asked for, as the browser itself tells."""
    names = {"create": "WebAuthn.credentialAdded", "get": "WebAuthn.credentialAsserted"}
    return +Counter({kind: len(tools.events(name)) for kind, name in names.items()})


class Person:
    def __init__(self, browser, site):
        self.browser, self.site = browser, site
        self.orders = f"{site.run.prefix}/orders"
        self.email = f"ann{next(_NUMBERS)}@example.com"
        self.pressed = Counter()
        self._made = []

    def open(self, path):
        self.browser.get(self.site.url + path)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    @property
    def path(self):
        address = self.browser.current_url.removeprefix(self.site.url)
        return address.partition("?")[0]

    @property
    def text(self):
        return self.find("body").text

    def until(self, condition):
        def holds(_):
            try:
                return condition()
            except WebDriverException:  # between two pages
                return False

        return WebDriverWait(self.browser, 20, 0.05).until(holds)

    def is_at(self, path):
        return self.until(lambda: self.path == path)

    def leave_by(self, act):
        """Do what leads to another page, and wait for that."""
        before = self.find("html").id
        act()
        self.until(
            lambda: (
                self.find("html").id != before
                and self.browser.execute_script("return document.readyState") == "complete"
            )
        )

    def send(self, **typed):
        """Fill in the form of the page, and press its button."""
        form = self.find("main form:not([data-passkey])")
        for name, value in typed.items():
            field = form.find_element(By.NAME, name)
            if value is True:
                field.click()
                continue
            field.clear()
            field.send_keys(value)
        self.leave_by(form.find_element(By.CSS_SELECTOR, "button:not([type=button])").click)

    def press_passkey(self, kind="get"):
        self.until(lambda: self.find("form[data-passkey]").is_displayed())
        self.leave_by(self.find("form[data-passkey] button").click)
        self.pressed[kind] += 1

    def sign_up(self):
        self.open("/auth/signup")
        self.send(email=self.email, password=PASSWORD, name="Ann")
        if self.path.endswith("/passkey"):  # the device has a passkey to offer
            self.leave_by(self.find(".ends a").click)

    def sign_out(self):
        self.open("/auth/logout")
        self.send()

    def sign_in(self):
        self.open("/auth/login")
        self.send(identifier=self.email, password=PASSWORD)

    def is_signed_in(self):
        self.open("/orders")
        return self.path == "/orders" and self.email in self.text

    def enrol(self, name, **typed):
        self.open(f"{SECURITY}/passkey")
        self.send(name=name, **typed)
        self.press_passkey("create")
        assert self.path == SECURITY, self.text
        assert name in self.text

    def follow(self, form):
        """Press the link of the only passkey that leads to this form."""
        self.open(SECURITY)
        link = self.find(f'a[href*="/{form}?"]')
        self.leave_by(link.click)

    def has_autofill(self, has):
        """Whether the browser offers passkeys in fields: a virtual one answers without a touch."""
        self.open("/")
        change = "removeItem('no autofill')" if has else "setItem('no autofill', 'on')"
        self.browser.execute_script(f"localStorage.{change}")

    def made(self):
        """What the browser has signed in this test."""
        self.open("/")
        self._made += taken(self.browser)
        return self._made

    def mediations(self):
        return [one["mediation"] for one in self.made() if one["kind"] == "get"]


def test_passkey_signs_in_by_the_button_and_in_the_field(person, device):
    device(PLATFORM)
    person.enrol("Laptop")
    person.sign_out()

    person.has_autofill(False)
    person.open("/auth/login")
    person.press_passkey()
    assert person.is_signed_in()
    assert person.mediations() == ["optional"]

    person.sign_out()
    person.has_autofill(True)
    person.open(f"/auth/login?next={person.orders}")
    person.until(lambda: person.path != "/auth/login")
    assert person.is_signed_in()
    assert person.mediations() == ["optional", "conditional"]


@once
def test_synced_passkey_is_shown_as_backed_up(person, device):
    device(SYNCED)

    person.enrol("Phone")

    assert "Backed up" in person.text


@once
def test_sign_up_offers_a_passkey_where_the_device_has_one(person, device):
    device(PLATFORM)
    person.sign_out()
    person.email = f"new-{person.email}"
    person.open(f"/auth/signup?next={person.orders}")
    person.send(email=person.email, password=PASSWORD, name="Ann")
    assert person.path == f"{SECURITY}/passkey"

    person.send(name="Laptop")
    person.press_passkey("create")

    assert person.path == "/orders"


def test_second_factor_is_a_passkey_or_a_security_key(person, device):
    laptop = device(PLATFORM)
    person.enrol("Laptop", second_factor=True)
    person.sign_out()
    person.has_autofill(False)
    person.sign_in()
    assert person.path == "/auth/login"
    person.press_passkey()
    assert person.is_signed_in()
    laptop.remove()

    device(SECURITY_KEY)
    person.enrol("Blue key", second_factor=True)
    assert "Only after the password" in person.text
    person.sign_out()
    person.sign_in()
    person.press_passkey()
    assert person.is_signed_in()


@once
def test_security_key_without_verification_is_no_passkey(person, device):
    device(SECURITY_KEY)
    person.open(f"{SECURITY}/passkey")
    person.send(name="Blue key")

    person.until(lambda: person.find("form[data-passkey]").is_displayed())
    person.find("form[data-passkey] button").click()

    # The browser finds no authenticator that could do it, as after a dialogue that was closed.
    person.until(lambda: person.path == f"{SECURITY}/passkey")
    assert person.made() == []
    person.enrol("Blue key", second_factor=True)


def test_step_up_by_passkey_leads_back(person, device):
    device(PLATFORM)
    person.enrol("Laptop")

    person.open(f"/auth/confirm?acr_values=phr&next={person.orders}")
    person.press_passkey()

    assert person.path == "/orders"
    assert person.mediations() == ["optional"]


def test_renamed_and_removed_passkey_is_gone_from_the_browser(person, device, tools):
    laptop = device(PLATFORM)
    person.enrol("Laptop")
    person.follow("passkey-change")
    person.send(name="Grey laptop")
    assert "Grey laptop" in person.text

    person.follow("passkey-remove")
    person.send()

    assert "You have none yet." in person.text
    person.until(lambda: not laptop.credentials())
    (event,) = tools.events("WebAuthn.credentialDeleted")
    assert event["authenticatorId"] == laptop.id


@once
def test_renamed_account_is_renamed_in_the_browser(person, device, tools):
    laptop = device(PLATFORM)
    person.enrol("Laptop")
    person.open("/auth/account/profile/name")
    person.send(name="Ann Lee")

    person.open(SECURITY)

    person.until(lambda: laptop.credentials()[0]["userDisplayName"] == "Ann Lee")
    assert tools.events("WebAuthn.credentialUpdated")


@once
def test_passkey_that_no_account_has_is_gone_from_the_browser(person, device, tools):
    laptop = device(PLATFORM)
    person.enrol("Laptop")
    (credential,) = laptop.credentials()
    laptop.remove()  # it is not here when the user removes the passkey
    person.follow("passkey-remove")
    person.send()
    person.sign_out()
    other = device(PLATFORM)
    other.add(credential)
    person.has_autofill(False)

    person.open("/auth/login")
    person.press_passkey()

    assert "No account has this passkey." in person.text
    person.until(lambda: not other.credentials())
    assert tools.events("WebAuthn.credentialDeleted")


@once
def test_same_authenticator_is_added_once(person, device):
    device(PLATFORM)
    person.enrol("Laptop")
    person.open(f"{SECURITY}/passkey")
    person.send(name="Again")

    person.find("form[data-passkey] button").click()

    text = "This device has a passkey of your account already."
    person.until(lambda: text in person.text)


@once
def test_page_that_was_open_for_too_long_asks_with_new_options(person, device):
    device(PLATFORM)
    person.enrol("Laptop")
    person.sign_out()
    person.has_autofill(False)
    person.open(f"/auth/login?next={person.orders}")
    person.until(lambda: person.find("form[data-passkey]").is_displayed())
    # As if six minutes had passed.
    person.browser.execute_script("const now = Date.now; Date.now = () => now() + 360000")

    person.find("form[data-passkey] button").click()

    person.is_at("/orders")
    assert person.is_signed_in()


@once
def test_pages_work_without_a_script(person):
    off = {"value": True}
    person.sign_out()
    person.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", off)
    try:
        person.open("/auth/login")
        assert not person.find("form[data-passkey]").is_displayed()
        person.find("input[name=identifier]").send_keys(person.email)
        person.find("input[name=password]").send_keys(PASSWORD)
        person.find("main form button:not([type=button])").click()
        person.until(lambda: person.path != "/auth/login")
    finally:
        person.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert person.is_signed_in()


@once
def test_code_of_the_documentation_works_on_a_page_of_the_project(person, device):
    laptop = device(PLATFORM)
    page = Documented(person)

    done = page.run(LIFE_OF_A_PASSKEY)

    # The signal API has removed the passkey from the browser, so nothing is left to sign in with.
    assert done == ["Laptop", True, "NotAllowedError"]
    assert laptop.credentials() == []


@once
def test_step_up_of_the_documentation_works_on_a_page_of_the_project(person, device):
    laptop = device(PLATFORM)
    page = Documented(person)

    assert page.step_up(*page.new_user(passkey=True)) == ["phr", True, []]
    user = page.new_user(passkey=True)
    laptop.remove()
    device(PLATFORM)  # without this passkey: the dialogue ends as one that the user closes
    assert page.step_up(*user) == ["aal2", True, [["code"]]]
    assert page.step_up(*page.new_user(passkey=False)) == ["aal2", True, [["code"]]]
    assert len([error for error in console_errors(person.browser) if " 401 " in error]) == 3
