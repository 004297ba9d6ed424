"""What the pages on other packages name in the column of this service exists here."""

import re
from pathlib import Path

import pytest

from authservice import signals
from authservice.kernel.actions import ACTIONS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/coming_from").glob("*.rst"))
PACKAGES = [page for page in PAGES if page.stem != "index"]
REFERENCE = ROOT / "docs/reference"
ROW = re.compile(r"^   \* - (.+?)\n     - (.+?)(?=\n   \* - |\n\n)", re.MULTILINE | re.DOTALL)
HEAD = re.compile(r"(Route|Code|Setting|Signal) of (this service|``AUTHSERVICE``)")
SETTING = re.compile(r"``((?:[A-Z]\w+\.)?[A-Z][A-Z_]+)``")
ROUTE = re.compile(r"``([A-Z]+) (/[\w/{}.-]+)``")


def cells(kind):
    """The cells in the columns whose head is "… of this service"."""
    chosen = []
    for page in PAGES:
        for table in page.read_text().split(".. list-table::")[1:]:
            (_, head), *rows = ROW.findall(table + "\n\n") or [("", "")]
            found = HEAD.match(head)
            if found and found[1] == kind:
                chosen += [pytest.param(ours, id=f"{page.stem}: {old}") for old, ours in rows]
    return chosen


def described_routes():
    method, path = "", ""
    for line in (ROOT / "docs/openapi.yaml").read_text().splitlines():
        if found := re.fullmatch(r"  (/\S*):", line):
            path = found[1]
        elif found := re.fullmatch(r"    (get|put|post|patch|delete):", line):
            method = found[1].upper()
            yield method, path


ROUTES = set(described_routes())
SETTINGS = set(re.findall(r"^``([A-Z_.]+)``$", (REFERENCE / "settings.rst").read_text(), re.M))
CODES = set(re.findall(r"^``([A-Z0-9_]+)``$", (REFERENCE / "errors.rst").read_text(), re.M))


def test_every_package_has_its_page():
    pages = {page.stem for page in PAGES}

    assert {"simplejwt", "dj_rest_auth", "djoser", "knox"} <= pages
    assert {"allauth", "django_otp", "two_factor"} <= pages
    assert min(len(cells(kind)) for kind in ("Route", "Code", "Setting", "Signal")) > 6


@pytest.mark.parametrize("page", PACKAGES, ids=lambda page: page.stem)
def test_page_has_the_replacements_and_the_way_back(page):
    text = page.read_text()

    for kind in ("Route", "Code", "Setting"):
        assert any(cell.id.startswith(f"{page.stem}: ") for cell in cells(kind)), kind
    assert re.search(r"\bsignals?\b", text, re.IGNORECASE)
    assert "\nSteps\n-----\n" in text
    assert "\nGoing back\n----------\n" in text


@pytest.mark.parametrize("cell", cells("Route"))
def test_named_route_exists(cell):
    named = ROUTE.findall(cell)

    assert named or "Route" in cell or "none" in cell
    assert [route for route in named if route not in ROUTES] == []


@pytest.mark.parametrize("cell", cells("Setting"))
def test_named_setting_exists(cell):
    named = SETTING.findall(cell)

    assert [name for name in named if name not in SETTINGS | {"SECRET_KEY"}] == []


@pytest.mark.parametrize("cell", cells("Code"))
def test_named_code_exists(cell):
    named = re.findall(r"``([A-Z0-9_]+)``", cell)

    assert named or cell.startswith("none")
    assert [code for code in named if code not in CODES] == []


@pytest.mark.parametrize("cell", cells("Signal"))
def test_named_signal_exists(cell):
    named = re.findall(r"``([a-z_]+)``", cell)

    assert [name for name in named if not hasattr(signals, name)] == []
    assert [name for name in re.findall(r"``(\w+\.[\w.]+)``", cell) if name not in ACTIONS] == []
