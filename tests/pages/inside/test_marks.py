"""The marks of providers on their buttons."""

import re

import pytest

from authservice.oauth import provider_settings
from authservice.pages import provider_marks
from tests.oauth.in_process import SETTINGS

pytestmark = pytest.mark.django_db


def test_every_named_provider_has_its_mark():
    assert set(provider_settings.BUILT_IN) <= set(provider_marks.NAMES)


@pytest.mark.parametrize("name", provider_marks.NAMES)
def test_mark_is_small_and_readable_in_both_modes(name):
    mark = provider_marks.of(name, "X")

    assert len(mark) < 1000
    # A screen reader reads the text of the button alone.
    assert 'aria-hidden="true"' in mark
    assert not re.search(r"#(0{3}|0{6}|f{3}|f{6})\b", mark)


def test_provider_without_a_mark_has_its_initial_which_is_escaped(person, settings):
    names = {"acme": "<b>"}
    oauth = {"PROVIDERS": {"acme": SETTINGS}}
    settings.AUTHSERVICE = {
        **settings.AUTHSERVICE,
        "OAUTH": oauth,
        "PAGES": {"PROVIDER_NAMES": names},
    }

    page = person.open("/auth/login")

    assert "&lt;</text></svg>Continue with &lt;b&gt;" in page.html
