"""How pages look: name, logo, colours, and where they lead."""

import pytest
from django.core.checks import run_checks

from authservice.pages.conf import MINIMUM, PAGE, PAGE_DARK, ratio, text_on
from tests.support.flows import ANN, verify_path

pytestmark = pytest.mark.django_db

LINK = "/auth/account/secure?token=x"


@pytest.fixture
def ids(configure, settings):
    def ids(**keys):
        configure(PAGES=keys, FRONTEND={"URL": "http://testserver"})
        # The post office of the tests takes the place of the messenger of `notification`.
        settings.SILENCED_SYSTEM_CHECKS = ["authservice.W281"]
        found = [
            one
            for one in run_checks(tags=["authservice"])
            if one.id[-4] in "EW" and not one.is_silenced()
        ]
        assert all(one.hint for one in found)
        return [one.id.removeprefix("authservice.") for one in found]

    return ids


@pytest.mark.parametrize("link", [LINK, "/auth/magic-link/verify?token=x", "/auth/reset-password"])
def test_name_is_on_every_page(reader, configure, link):
    configure(PAGES={"NAME": "Plum & Co"})

    page = reader.open(link)

    assert "<strong>Plum &amp; Co</strong></header>" in page.html
    assert "– Plum &amp; Co</title>" in page.html


def test_page_without_a_name_has_no_header(reader):
    assert "<header>" not in reader.open(LINK).html


@pytest.mark.parametrize(
    ("url", "origin"),
    [("/static/logo.svg", ""), ("https://cdn.example.com/logo.svg?v=2", "https://cdn.example.com")],
)
def test_logo_is_allowed_by_the_policy(reader, configure, url, origin):
    configure(PAGES={"NAME": "Plum", "LOGO_URL": url})

    page = reader.open(LINK)

    assert f'<img class="logo" src="{url}" alt="Plum">' in page.html
    policy = page.response.headers["Content-Security-Policy"]
    assert f"img-src 'self' data: {origin};" in policy


def test_colours_are_in_the_style_sheet_whose_digest_the_policy_allows(reader, configure):
    before = reader.open(LINK).response.headers["Content-Security-Policy"]
    configure(PAGES={"COLOR": "#7a0019", "COLOR_DARK": "#ffcc33"})

    page = reader.open(LINK)

    assert "--brand: #7a0019; --on-brand: #ffffff;" in page.html
    assert "--brand: #ffcc33; --on-brand: #101014;" in page.html
    assert page.response.headers["Content-Security-Policy"] != before


@pytest.mark.parametrize("radius", [0, 4])
def test_radius_and_font_are_in_the_style_sheet(reader, configure, radius):
    configure(PAGES={"RADIUS": radius, "FONT": "'Source Serif', serif"})

    page = reader.open(LINK)

    assert f"--radius: {radius}px; --font: 'Source Serif', serif, system-ui" in page.html
    # A template of the project may load the font from its own static files.
    assert "; font-src 'self';" in page.response.headers["Content-Security-Policy"]


def test_last_page_links_to_the_home_url(reader, configure, flows, ann):
    configure(PAGES={"HOME_URL": "https://app.example.com/login"})
    page = reader.open("/auth/" + verify_path(flows.email_token()))

    done = reader.send(page, decision="confirm")

    assert '<a class="button" href="https://app.example.com/login">Continue</a>' in done.html
    assert ANN not in done.html


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ({}, []),
        ({"COLOR": "#7a0019", "LOGO_URL": "/logo.svg", "HOME_URL": "https://a.example"}, []),
        ({"COLOR": "#9dbcf7"}, ["W239"]),
        ({"COLOR_DARK": "#1a56c4"}, ["W239"]),
    ],
    ids=str,
)
def test_checks_report_low_contrast(ids, keys, found):
    assert ids(**keys) == found


def test_check_of_links_is_satisfied_by_the_pages(configure):
    assert "authservice.W230" not in [one.id for one in run_checks(tags=["authservice"])]


def test_check_reports_a_path_of_a_front_end_that_does_not_exist(configure):
    configure(FRONTEND={"RESET_PASSWORD_PATH": "/new-password"})

    (found,) = [one for one in run_checks(tags=["authservice"]) if one.id == "authservice.W230"]

    assert "FRONTEND.RESET_PASSWORD_PATH is '/new-password'" in found.msg


def test_contrast_is_that_of_the_guidelines():
    assert round(ratio("#000000", "#ffffff"), 2) == 21
    assert round(ratio("#777777", "#ffffff"), 2) == 4.48
    assert text_on("#9dbcf7") == "#101014"


@pytest.mark.parametrize("text", ["#1b1b1f", "#55555e", "#b3261e"])
def test_text_of_the_page_is_readable(text):
    assert ratio(text, PAGE) >= MINIMUM


@pytest.mark.parametrize("text", ["#ededf0", "#b4b4bd", "#ffb4ab"])
def test_text_of_the_dark_page_is_readable(text):
    assert ratio(text, PAGE_DARK) >= MINIMUM
