"""The preview shows every page in every state: pictures and the tests of accessibility walk it."""

import re

import pytest
from django.conf import settings as conf
from django.test import override_settings

from authservice.pages import preview
from tests.hosts.runs import ROOT
from tests.pages.inside.person import Person
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db

PREVIEW = "/auth/pages-preview"
LARGEST, LARGEST_STYLE = 40_000, 12_000  # bytes
# Frames of other pages, and the list of the states.
NO_PAGES = {"authservice/pages/account_base.html", "authservice/pages/preview.html"}
DESCRIBED = re.compile(r'aria-describedby="([^"]*)"')
# The id of a hint or an error of a field, "" if it has none.
NOTE = re.compile(r'<(?:p|ul) class="(?:hint|error)[^"]*"(?: id="([^"]*)")?')
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
TEXT = re.compile(
    r"""{% translate ["']([^"']+)["']|{% blocktranslate[^%]*%}(.*?){% endblocktranslate %}"""
)
IS_PAGE = re.compile(r'{% extends "authservice/pages/(account_)?base.html" %}')
VARIABLE = re.compile(r"{{.*?}}")


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Once: the preview is the same with the csrf module."""
    with mounted():
        yield


@pytest.fixture(scope="module")
def shown(_pages):
    """The page of each state."""
    person, keys = Person(), {**conf.AUTHSERVICE, "PAGES": {"NAME": "Plum"}}
    with override_settings(DEBUG=True, AUTHSERVICE=keys):
        return {state: person.open(f"{PREVIEW}?state={state}") for state in preview.shown()}


def sources():
    """The templates of pages, and of their parts, by their paths."""
    files = ROOT.glob("authservice/*/templates/authservice/**/*.html")
    texts = {str(file).partition("/templates/")[2]: file.read_text() for file in files}
    return {
        path: text
        for path, text in texts.items()
        if path.startswith("authservice/pages/") or IS_PAGE.match(text)
    }


def test_preview_is_for_developers_only(person, settings):
    assert person.visit(PREVIEW).status == 404
    settings.DEBUG = True

    listed = [link for link in person.open(PREVIEW).links if "state=" in link]

    assert len(listed) == len(preview.shown())
    assert person.visit(f"{PREVIEW}?state=nothing").status == 404


def test_every_page_is_in_the_preview():
    shown = {
        template if "/" in template else f"authservice/pages/{template}"
        for template, _ in preview.shown().values()
    }

    assert shown == {path for path, text in sources().items() if IS_PAGE.match(text)} - NO_PAGES


@pytest.mark.parametrize("state", ["account-form", "account-form-error", "account-form-again"])
def test_form_of_the_account_is_shown_with_its_text(shown, state):
    assert "are deleted for good" in shown[state].text


def test_every_text_of_a_page_is_in_the_preview(shown):
    """A text that no state shows belongs to a state that is missing."""
    everything = " ".join(page.html for page in shown.values())
    texts = [
        (path, part.strip())
        for path, source in sources().items()
        for groups in TEXT.findall(source)
        for part in VARIABLE.split("".join(groups))
        if part.strip()
    ]

    assert len(texts) > 100
    assert [text for text in texts if text[1] not in everything] == []


def test_every_hint_and_error_of_a_field_is_read_with_the_field(shown):
    wrong = {}
    for state, page in shown.items():
        described = {name for names in DESCRIBED.findall(page.html) for name in names.split()}
        texts = {*NOTE.findall(page.html)}
        if texts - described or described - texts:
            wrong[state] = texts ^ described

    assert wrong == {}


def test_buttons_of_a_row_are_read_with_the_row(shown):
    page = shown["account-organizations"].html

    (button, row), *_ = re.findall(r'id="(\S+)" aria-labelledby="\1 (\S+)">Change role<', page)
    assert f'<strong id="{row}">Bob Winter</strong>' in page
    for state, other in shown.items():
        ids = re.findall(r' id="([^"]+)"', other.html)
        named = re.findall(r'aria-labelledby="(\S+) (\S+)"', other.html)
        assert len(ids) == len({*ids}), state
        assert {name for names in named for name in names} <= {*ids}, state


def test_every_state_is_small(shown):
    sizes = {state: len(page.response.content) for state, page in shown.items()}

    assert {state: size for state, size in sizes.items() if size > LARGEST} == {}


def test_styles_of_every_state_are_small(shown):
    styles = {state: "".join(STYLE.findall(page.html)) for state, page in shown.items()}
    sizes = {state: len(style.encode()) for state, style in styles.items()}

    assert {state: size for state, size in sizes.items() if size > LARGEST_STYLE} == {}
    assert min(sizes.values()) > LARGEST_STYLE / 4  # so each page has its styles in itself
