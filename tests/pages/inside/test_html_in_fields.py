"""HTML that a user types is text on every page: in each field of each form, and in the address."""

import re
from urllib.parse import urlencode, urljoin

import pytest
from django.urls import reverse

from tests.pages.inside import every_form
from tests.pages.inside.every_form import BOB, FORMS
from tests.pages.inside.person import PASSKEY
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db

# Long enough that no random token of a page ends with it.
HTML = "quizzq\"quizzq'quizzq<quizzq>quizzq&end"
AS_TEXT = "quizzq&quot;quizzq&#x27;quizzq&lt;quizzq&gt;quizzq&amp;end"
# A character that ends a text or an attribute.
RAW = re.compile(r"quizzq[\"'<>]|quizzq&end")
TOKEN = "csrfmiddlewaretoken"
# Parameters of the addresses of pages.
PARAMETERS = (
    *("next", "id", "user", "invitation", "acr_values", "offset", "members", "invitations"),
    *("again", "state", "email"),
)
SECTIONS = ("profile", "security", "organizations", "activity")
# What the API stores as it was typed, and the section that shows it.
STORED = {
    "page-account-profile-name": ("name", "profile"),
    "page-account-profile-details": ("motto", "profile"),
    "page-account-security-passkey": ("name", "security"),
    "page-account-security-passkey-change": ("name", "security"),
    "page-account-organizations-create": ("name", "organizations"),
    "page-account-organizations-rename": ("name", "organizations"),
}


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Once: a page is the same with the csrf module."""
    with mounted():
        yield


@pytest.fixture
def scene(person, api, post, ann, configure):
    return every_form.begin(person, api, post, ann, configure)


# Forms without a field, or with nothing but a password or a code.
_NO_TEXT = (
    *("logout", "profile-confirm-email", "profile-delete", "profile-export", "profile-phone-code"),
    *("profile-phone-send", "security-backup-codes", "security-factor", "security-factor-code"),
    *("security-factor-off", "security-link", "security-passkey-remove", "security-password"),
    *("security-set-password", "security-unlink", "organizations-delete", "organizations-leave"),
    *("organizations-remove", "organizations-switch", "organizations-uninvite"),
    *("sessions-end", "sessions-end-others"),
)
WITH_TEXT = [
    route for route in FORMS if route.removeprefix("page-").removeprefix("account-") not in _NO_TEXT
]


def names_of(filled):
    """The fields of the form, hidden ones too, and those that are typed."""
    page = filled.page
    _, fields = page.passkey_form if filled.form == PASSKEY else page.forms[filled.form]
    return sorted({*fields, *filled.typed} - {TOKEN})


@pytest.mark.parametrize("route", WITH_TEXT)
def test_html_in_each_field_of_a_form_is_text(route, scene):
    person, filled = scene.person, FORMS[route](scene)
    everywhere = dict.fromkeys(names_of(filled), HTML)

    for typed in (everywhere, *({**filled.typed, name: HTML} for name in filled.typed)):
        sent = person.post(filled.page, filled.form, **typed)
        assert RAW.search(sent.html) is None, typed
        if sent.location:
            shown = person.open(urljoin(sent.url, sent.location))
            assert RAW.search(shown.html) is None, typed


@pytest.mark.parametrize("route", STORED)
def test_html_that_is_stored_is_shown_as_text(route, scene):
    """So the test above can fail."""
    field, section = STORED[route]
    filled = FORMS[route](scene)

    scene.person.post(filled.page, filled.form, **{**filled.typed, field: HTML})

    pages = {name: scene.person.open(f"/auth/account/{name}").html for name in SECTIONS}
    assert AS_TEXT in pages[section]
    assert [name for name, page in pages.items() if RAW.search(page)] == []


def test_html_in_names_of_others_is_text(scene):
    org_id = scene.organization()
    scene.bob(org_id)
    scene.api.request(
        "PATCH", "profile", {"name": HTML}, token=scene.api.log_in(BOB)["access_token"]
    )

    page = scene.own(f"organizations?id={org_id}")

    assert AS_TEXT in page.html
    assert RAW.search(page.html) is None


def test_html_in_an_address_is_text(scene, settings):
    settings.DEBUG = True
    for is_signed_in in (False, True):
        if is_signed_in:
            scene.person.enter(ANN, PASSWORD)
        for route in sorted(every_form.route_names()):
            url = reverse(f"authservice:{route}")
            for text in (HTML, f"/{HTML}"):
                page = scene.person.visit(f"{url}?{urlencode(dict.fromkeys(PARAMETERS, text))}")
                assert RAW.search(page.html) is None, (route, text)
