"""Where a button stands between a link and its sign-in, no page of another site can push it."""

import pytest

from authservice.core.models import Session
from tests.magiclink.magic import HTML
from tests.magiclink.test_confirm import is_page

pytestmark = pytest.mark.django_db
ELSEWHERE = ("cross-site", "same-site")
NAVIGATION = {**HTML, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.fixture(autouse=True)
def _auto(magiclink, ann):
    magiclink(CONFIRM="auto")


@pytest.fixture
def entered():
    before = Session.objects.count()
    return lambda: Session.objects.count() - before


@pytest.mark.parametrize("site", ELSEWHERE)
def test_a_form_of_another_site_gets_the_page_and_spends_nothing(magic, entered, site):
    pair = magic.mailed()

    answer = magic.push(pair.token, **NAVIGATION, **{"Sec-Fetch-Site": site})

    assert is_page(answer)
    assert answer.response.cookies == {}
    assert entered() == 0
    assert magic.push(pair.token).status == 200


@pytest.mark.parametrize(
    ("site", "origin"),
    [
        ("same-origin", "http://testserver"),
        ("same-origin", "null"),  # an extension of the browser may hide the origin
        ("none", ""),
        ("", "http://testserver"),
        ("", ""),
    ],
)
def test_the_button_itself_signs_in(magic, site, origin):
    headers = {**NAVIGATION, "Sec-Fetch-Site": site, "Origin": origin}

    assert "access_token" in magic.push(magic.mailed().token, **headers).data


@pytest.mark.parametrize("site", ["", "none", *ELSEWHERE])
def test_form_that_hides_its_origin_gets_the_page_and_spends_nothing(magic, entered, site):
    """Any page can send `Origin: null`: from a sandboxed frame, or with `no-referrer`."""
    pair = magic.mailed()

    answer = magic.push(pair.token, **{"Sec-Fetch-Site": site, "Origin": "null"})

    assert is_page(answer)
    assert entered() == 0
    assert magic.push(pair.token).status == 200


@pytest.mark.parametrize("site", ELSEWHERE)
def test_json_of_another_site_signs_in(api, magic, site):
    """Its server has let it: a browser asks before it sends any."""
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "cors"}
    body = {"token": magic.mailed().token}

    answer = api.request("POST", "magic-link/verify", body, headers=headers)

    assert "access_token" in answer.data


@pytest.mark.parametrize("site", ELSEWHERE)
def test_a_link_that_a_page_embeds_signs_nobody_in(magic, entered, site):
    pair = magic.mailed()
    picture = {"Accept": "image/avif,*/*;q=0.8", "Sec-Fetch-Mode": "no-cors"}

    answer = magic.follow(pair.token, **picture, **{"Sec-Fetch-Site": site})

    assert is_page(answer)
    assert answer.response.cookies == {}
    assert entered() == 0
    assert magic.follow(pair.token).status == 200


def test_a_script_that_wants_data_goes_straight_through(magic):
    fetched = {"Accept": "*/*", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-site"}

    assert "access_token" in magic.follow(magic.mailed().token, **fetched).data


@pytest.mark.parametrize("site", ELSEWHERE)
def test_a_form_of_another_site_is_refused_without_confirmation_too(
    magic, magiclink, entered, site
):
    """Login CSRF: the visitors of a page would be logged in to an account of the attacker."""
    magiclink(CONFIRM="off")
    pair = magic.mailed()

    answer = magic.push(pair.token, **NAVIGATION, **{"Sec-Fetch-Site": site})

    assert is_page(answer)
    assert answer.response.cookies == {}
    assert entered() == 0


@pytest.mark.parametrize(
    ("origin", "elsewhere"),
    [
        ("https://evil.example", True),
        ("http://testserver.evil.example", True),
        ("http://testserver", False),
        ("null", True),
    ],
)
def test_origin_tells_a_form_of_another_site_from_an_old_browser(magic, origin, elsewhere):
    answer = magic.push(magic.mailed().token, Origin=origin)

    assert is_page(answer) == elsewhere
