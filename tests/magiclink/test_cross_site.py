"""If a link asks for confirmation, no page of another site can submit the form."""

import pytest

from authservice.core.models import Session
from tests.magiclink.magic import HTML
from tests.magiclink.test_confirm import is_page

pytestmark = pytest.mark.django_db
OTHER_SITES = ("cross-site", "same-site")
NAVIGATION = {**HTML, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.fixture(autouse=True)
def _auto(magiclink, ann):
    magiclink(CONFIRM="auto")


@pytest.fixture
def new_sessions():
    before = Session.objects.count()
    return lambda: Session.objects.count() - before


@pytest.mark.parametrize("site", OTHER_SITES)
def test_form_of_another_site_gets_the_page_and_uses_no_link(magic, new_sessions, site):
    pair = magic.mailed()

    answer = magic.submit(pair.token, **NAVIGATION, **{"Sec-Fetch-Site": site})

    assert is_page(answer)
    assert answer.response.cookies == {}
    assert new_sessions() == 0
    assert magic.submit(pair.token).status == 200


@pytest.mark.parametrize(
    ("site", "origin"),
    [
        ("same-origin", "http://testserver"),
        ("same-origin", "null"),  # a browser extension can hide the origin
        ("none", ""),
        ("", "http://testserver"),
        ("", ""),
    ],
)
def test_form_of_the_page_logs_in(magic, site, origin):
    headers = {**NAVIGATION, "Sec-Fetch-Site": site, "Origin": origin}

    assert "access_token" in magic.submit(magic.mailed().token, **headers).data


@pytest.mark.parametrize("site", ["", "none", *OTHER_SITES])
def test_form_with_null_origin_gets_the_page_and_uses_no_link(magic, new_sessions, site):
    """Any page can send `Origin: null`: from a sandboxed frame, or with `no-referrer`."""
    pair = magic.mailed()

    answer = magic.submit(pair.token, **{"Sec-Fetch-Site": site, "Origin": "null"})

    assert is_page(answer)
    assert new_sessions() == 0
    assert magic.submit(pair.token).status == 200


@pytest.mark.parametrize("site", OTHER_SITES)
def test_json_of_another_site_logs_in(api, magic, site):
    """The service allowed it by CORS: the browser sends a preflight request first."""
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "cors"}
    body = {"token": magic.mailed().token}

    answer = api.request("POST", "magic-link/verify", body, headers=headers)

    assert "access_token" in answer.data


@pytest.mark.parametrize("site", OTHER_SITES)
def test_link_embedded_in_a_page_logs_nobody_in(magic, new_sessions, site):
    pair = magic.mailed()
    picture = {"Accept": "image/avif,*/*;q=0.8", "Sec-Fetch-Mode": "no-cors"}

    answer = magic.follow(pair.token, **picture, **{"Sec-Fetch-Site": site})

    assert is_page(answer)
    assert answer.response.cookies == {}
    assert new_sessions() == 0
    assert magic.follow(pair.token).status == 200


def test_script_that_accepts_any_type_logs_in_at_once(magic):
    fetched = {"Accept": "*/*", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-site"}

    assert "access_token" in magic.follow(magic.mailed().token, **fetched).data


@pytest.mark.parametrize("site", OTHER_SITES)
def test_form_of_another_site_is_refused_without_confirmation_too(
    magic, magiclink, new_sessions, site
):
    """Login CSRF: the visitors of a page would be logged in to an account of the attacker."""
    magiclink(CONFIRM="off")
    pair = magic.mailed()

    answer = magic.submit(pair.token, **NAVIGATION, **{"Sec-Fetch-Site": site})

    assert is_page(answer)
    assert answer.response.cookies == {}
    assert new_sessions() == 0


@pytest.mark.parametrize(
    ("origin", "other_site"),
    [
        ("https://evil.example", True),
        ("http://testserver.evil.example", True),
        ("http://testserver", False),
        ("null", True),
    ],
)
def test_form_is_of_another_site_if_its_origin_differs(magic, origin, other_site):
    answer = magic.submit(magic.mailed().token, Origin=origin)

    assert is_page(answer) == other_site
