"""`python -m tests.screenshots` makes the pictures of the docs, with real servers and a browser."""

import tempfile
from pathlib import Path

from tests.example.console import PASSWORD, Profile
from tests.example.servers import Service, services
from tests.hosts.runs import holds
from tests.screenshots.pictures import FOLDER
from tests.staff_support.test_staff_support import BROWSER
from tests.support.browser import chromium

# Name, state of the preview, size and colour scheme of the pictures of the account pages.
ACCOUNT = (
    ("pages-sign-in", "login-providers", "desktop", "light"),
    ("pages-account", "account", "desktop", "light"),
    ("pages-account-dark", "account", "desktop", "dark"),
    ("pages-phone", "signup-error", "phone", "light"),
)


def support() -> None:
    """The test of the support page takes its pictures on its way."""
    holds(*BROWSER, SCREENSHOTS=str(FOLDER))


def console(folder: Path) -> None:
    with services(folder) as started, chromium(folder) as browser:
        origin = started.origin(Service())
        for size in ("phone", "desktop"):
            user, address = Profile(browser, origin, size), f"ann-{size}@example.com"
            user.send("signup", email=address, password=PASSWORD)
            user.is_signed_in_as(address)
            user.mailed(address, "/verify-email?")
            browser.execute_script("scrollTo(0, 0)")
            _take(browser, f"console-{size}")
        browser.get(f"{origin}/auth/docs")
        [section, *_] = user.until(lambda: user.all(".opblock-tag-section"))
        browser.execute_script("arguments[0].scrollIntoView()", section)
        _take(browser, "api-docs")
        for name, state, size, scheme in ACCOUNT:
            user.resize(size)
            user.emulate(scheme=scheme)
            browser.get(f"{origin}/auth/pages-preview?state={state}")
            _take(browser, name)


def _take(browser, name: str) -> None:
    assert browser.save_screenshot(str(FOLDER / f"{name}.png"))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        console(Path(temporary))
    support()
    print("\n".join(sorted(str(path) for path in FOLDER.glob("*.png"))))
