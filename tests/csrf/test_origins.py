"""A valid pair is refused if the origin of the request is not trusted."""

import pytest

from tests.support.client import PASSWORD, Answer

pytestmark = pytest.mark.django_db

ANN = {"email": "ann@example.com", "password": PASSWORD}
EVIL = "https://evil.example"
TRUSTED = "https://app.example.com"


@pytest.fixture(autouse=True)
def _origins(configure):
    configure(
        API_URL="http://api.example.com:8080/below",
        FRONTEND={"URL": "https://Front.example.com/"},
        CSRF={"TRUSTED_ORIGINS": [TRUSTED, "http://[::1]:3000"]},
    )


def post(visitor, **headers) -> Answer:
    return visitor.post("signup", ANN, **headers)


@pytest.mark.parametrize(
    "origin",
    [
        "http://api.example.com:8080",
        "https://front.example.com",
        TRUSTED,
        "http://[::1]:3000",
        "http://testserver",
    ],
    ids=[
        "API_URL",
        "FRONTEND.URL",
        "TRUSTED_ORIGINS",
        "an IPv6 address",
        "the host of the request",
    ],
)
def test_trusted_origin_is_accepted(visitor, origin):
    assert post(visitor, Origin=origin).status == 201


@pytest.mark.parametrize(
    "origin",
    [
        EVIL,
        "null",
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://app.example.com.evil.example",
        "https://evil.example/https://app.example.com",
        "https://app.example.com@evil.example",
        "https://evil@app.example.com",
        "https://app.example.com/",
        "https://sub.app.example.com",
        "https://example.com",
        "http://api.example.com",
        "https://testserver",
        "http://testserver:81",
        "HTTPS://APP.EXAMPLE.COM",
        "https://app.example.com, https://evil.example",
        "app.example.com",
        "file://",
        "chrome-extension://app.example.com",
        "http://[",
        "http://a:b",
        "http://[::1]",
        "*",
    ],
)
def test_other_origin_is_refused(visitor, origin):
    answer = post(visitor, Origin=origin)

    assert answer.error == (403, "INVALID_CSRF")
    assert "origin" in answer.data["message"]


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_request_of_the_same_site_without_an_origin_is_accepted(visitor, site):
    assert post(visitor, Sec_Fetch_Site=site).status == 201


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_request_of_another_site_without_an_origin_is_refused(visitor, site):
    assert post(visitor, Sec_Fetch_Site=site).error == (403, "INVALID_CSRF")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_request_of_another_site_with_a_trusted_origin_is_accepted(visitor, site):
    assert post(visitor, Origin=TRUSTED, Sec_Fetch_Site=site).status == 201


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_request_of_another_site_with_the_origin_of_its_own_target_is_refused(visitor, site):
    answer = post(visitor, Origin="http://testserver", Sec_Fetch_Site=site)

    assert answer.error == (403, "INVALID_CSRF")


def test_other_origin_is_refused_even_if_the_site_is_the_same(visitor):
    assert post(visitor, Origin=EVIL, Sec_Fetch_Site="same-origin").error == (403, "INVALID_CSRF")


def test_trusted_origin_without_a_pair_is_refused(visitor):
    visitor.token = ""

    assert post(visitor, Origin=TRUSTED).error == (403, "INVALID_CSRF")


def test_request_without_origin_headers_is_not_from_a_browser_and_is_accepted(visitor):
    assert post(visitor).status == 201


def test_trusted_origins_are_read_again_after_the_setting_changes(visitor, configure):
    assert post(visitor, Origin=EVIL).status == 403
    configure(CSRF={"TRUSTED_ORIGINS": [EVIL]})

    assert post(visitor, Origin=EVIL).status == 201
