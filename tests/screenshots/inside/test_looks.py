"""Each state of each page looks as in its stored picture, on a phone and a desktop, light and dark.

`python -m tests.screenshots states` renews the pictures.
"""

import os
import re
import time

import pytest
from django.test import Client
from PIL import Image

from authservice.pages import preview
from tests.pages.inside.person import ACCEPT
from tests.screenshots import blocks
from tests.screenshots.comparison import FOLDER, difference, emulate, paths, resize, store, take
from tests.support.browser import chromium, needs_chromium, pages

pytestmark = [pytest.mark.slow, pytest.mark.django_db, needs_chromium]


PATIENCE = 10  # seconds; a busy machine paints late
# A page whose focus is at its end is scrolled down, and what is out of view may move later.
AT_REST = """
const [done] = arguments;
Promise.all(document.getAnimations().map((one) => one.finished)).then(() => {
  const row = document.querySelector("nav.side"), tab = row?.querySelector("[aria-current]");
  const before = tab && (row.clientWidth - tab.offsetWidth) / 2;
  if (tab) row.scrollLeft = tab.offsetLeft - row.offsetLeft - before;
  requestAnimationFrame(() => requestAnimationFrame(() => done()));
});
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("pictures"), "--hide-scrollbars") as browser:
        yield browser


@pytest.fixture
def html(settings, configure):
    """`html(state)` is the page of a state of the preview, in blocks."""
    settings.DEBUG = True
    configure(PAGES={"NAME": "Plum", "LEGAL_LINKS": {"Terms": "/terms", "Privacy": "/privacy"}})

    def html(state):
        answer = Client().get("/auth/pages-preview", {"state": state}, headers={"Accept": ACCEPT})
        assert answer.status_code == 200, state
        return answer.content.decode().replace("</head>", f"<style>{blocks.style()}</style></head>")

    return html


def test_every_state_looks_as_in_its_picture(browser, html, tmp_path):
    states = list(preview.shown())
    renewed = os.environ.get("SCREENSHOTS") == "renew"
    different = {}
    with pages({f"/{state}": html(state) for state in states}) as origin:
        for state, size, scheme, path in paths(states):
            picture = show(browser, f"{origin}/{state}", size, scheme)
            if renewed:
                store(picture, path)
                continue
            text, picture = painted(browser, size, path, picture)
            if text:
                different[path.name] = text
                picture.save(tmp_path / path.name)

    assert different == {}, f"The new pictures are in {tmp_path}."
    assert {path.name for path in FOLDER.iterdir()} == {path.name for *_, path in paths(states)}


def show(browser, url, size, scheme):
    if browser.current_url != url:
        browser.get(url)
        browser.execute_async_script("document.fonts.ready.then(arguments[0])")
    resize(browser, size)
    emulate(browser, scheme)
    browser.execute_async_script(AT_REST)
    return take(browser, size)


def painted(browser, size, path, picture, seconds=PATIENCE):
    """How `picture` differs from the stored one, and the last picture.

    A browser on a busy machine may paint what is below the edge of the window a moment later, so
    a picture that differs is taken again for a while.
    """
    if not path.exists():
        return "has no stored picture", picture
    stored = Image.open(path)
    text, end = difference(stored, picture), time.monotonic() + seconds
    while text and time.monotonic() < end:
        time.sleep(0.1)
        picture = take(browser, size)
        text = difference(stored, picture)
    return text, picture


def restyled(css):
    return lambda html: html.replace("</head>", f"<style>{css}</style></head>")


CHANGES = {
    "nothing": (lambda html: html, False),
    "another font": (restyled(":root { --font: 'DejaVu Serif', monospace !important; }"), False),
    "colour of the primary button": (restyled("button { background: #7a3fd1; }"), True),
    "no heading": (lambda html: re.sub(r"<h1>.*?</h1>", "", html), True),
    "field moved": (restyled("input { position: relative; left: 30px; }"), True),
    "field below": (restyled("input { position: relative; top: 30px; }"), True),
    "no border": (restyled(".card, .box { border-color: transparent !important; }"), True),
    "another word": (lambda html: html.replace("Forgot your password?", "Forgot it?"), True),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_comparison_sees_a_change_but_no_other_font(browser, html, change, scheme):
    alter, is_seen = CHANGES[change]
    with pages({"/login": alter(html("login"))}) as origin:
        picture = show(browser, f"{origin}/login", "desktop", scheme)
        stored = FOLDER / f"login.desktop.{scheme}.png"
        text, _ = painted(browser, "desktop", stored, picture, seconds=0 if is_seen else PATIENCE)

    assert bool(text) is is_seen
