"""`python -m tests.screenshots` makes the pictures of the docs, with real servers and a browser.

`python -m tests.screenshots states` makes those that the pages of the account are compared with.
`python -m tests.screenshots overview` puts two of the stored ones into one picture.
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageOps

from tests.example.console import Profile
from tests.example.servers import Service, services
from tests.hosts.runs import SQLITE, holds
from tests.screenshots import comparison
from tests.screenshots.pictures import FOLDER
from tests.screenshots.test_pictures import STATES
from tests.staff_support.test_staff_support import BROWSER
from tests.support.browser import chromium

# Name, state of the preview, size and colour scheme of the pictures of the account pages.
ACCOUNT = (
    ("pages-sign-in", "login-providers", "desktop", "light"),
    ("pages-account", "account-security", "desktop", "light"),
    ("pages-account-dark", "account-security", "desktop", "dark"),
    ("pages-phone", "signup-error", "phone", "light"),
)
# What the README and the first page of the docs show side by side: a part of each picture.
OVERVIEW = (
    ("pages-sign-in", (410, 72, 870, 828)),
    ("support-page", (22, 0, 1165, 757)),
)
GAP, HEIGHT, PAPER, EDGE = 24, 720, "#f3f5f9", "#c9ced8"


def overview() -> None:
    """The sign-in card and the support page in one picture, from the pictures of both."""
    parts = []
    for name, part in OVERVIEW:
        with Image.open(FOLDER / f"{name}.png") as picture:
            cut = picture.convert("RGB").crop(part)
        fitted = ImageOps.contain(cut, (cut.width, HEIGHT - 2), Image.Resampling.LANCZOS)
        parts.append(ImageOps.expand(fitted, 1, EDGE))
    width = sum(part.width for part in parts) + GAP * (len(parts) + 1)
    whole, left = Image.new("RGB", (width, HEIGHT + 2 * GAP), PAPER), GAP
    for one in parts:
        whole.paste(one, (left, GAP))
        left += one.width + GAP
    # By coverage, or small marks lose their colours.
    small = whole.quantize(256, Image.Quantize.MAXCOVERAGE)
    small.save(FOLDER / "overview.png", optimize=True)


def support() -> None:
    """The test of the support page takes its pictures on its way."""
    holds(*BROWSER, SCREENSHOTS=str(FOLDER))


def states() -> None:
    """The test that compares the pages stores what it sees."""
    for path in comparison.FOLDER.glob("*.png"):
        path.unlink()
    holds(*STATES, SCREENSHOTS="renew", **SQLITE)


def console(folder: Path) -> None:
    with services(folder) as started, chromium(folder) as browser:
        origin = started.origin(Service())
        for name, size in (("bob", "phone"), ("ann", "desktop")):
            user, address = Profile(browser, origin, size), f"{name}@example.com"
            user.sign_up(address)
            user.toast(address)
            browser.execute_script("document.getAnimations().forEach(one => one.finish())")
            _take(browser, f"console-{size}")
        user.press(user.find(".drawer > summary"))
        user.press(user.shown("#calls summary"))
        _take(browser, "console-drawer")
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


def docs() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        console(Path(temporary))
    support()
    overview()
    print("\n".join(sorted(str(path) for path in FOLDER.glob("*.png"))))


if __name__ == "__main__":
    {"states": states, "overview": overview}.get("".join(sys.argv[1:]), docs)()
