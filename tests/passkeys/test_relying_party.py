"""The domain, its origins, and the system checks of both."""

import pytest
from django.test import Client

from authservice.passkeys import checks, relying_party
from tests.passkeys.authenticator import Authenticator

APP = "android:apk-key-hash:" + "A" * 43
AAGUID = "2fc0579f-8113-47ea-b116-bb5a8db9202a"


@pytest.fixture
def urls(configure):
    """`urls(front="https://app.example.com")` sets the addresses of the project."""

    def change(*, front="", api="", **keys):
        configure(FRONTEND={"URL": front}, API_URL=api, PASSKEYS=keys)

    return change


def ids():
    return [found.id.removeprefix("authservice.") for found in checks.check_passkeys()]


def test_domain_is_that_of_the_front_end(urls):
    urls(front="https://app.example.com", api="https://api.example.com")

    assert relying_party.domain() == "app.example.com"
    assert relying_party.origins() == ("https://app.example.com",)


def test_domain_is_that_of_the_service_otherwise(urls):
    urls(api="https://api.example.com/base")

    assert relying_party.domain() == "api.example.com"
    assert relying_party.origins() == ("https://api.example.com",)


def test_settings_name_domain_and_origins(urls):
    urls(
        api="https://api.example.com",
        RP_ID="example.com",
        RP_NAME="Example",
        ORIGINS=["https://a.example.com", APP],
    )

    assert (relying_party.domain(), relying_party.name()) == ("example.com", "Example")
    assert relying_party.origins() == ("https://a.example.com", APP)
    assert relying_party.is_allowed(APP)
    assert not relying_party.is_allowed("https://api.example.com")


def test_both_addresses_are_origins_below_a_common_domain(urls):
    urls(front="https://app.example.com", api="https://api.example.com", RP_ID="example.com")

    assert relying_party.origins() == ("https://app.example.com", "https://api.example.com")


def test_local_pages_are_origins_in_development(urls, settings):
    urls()
    assert not relying_party.is_allowed("http://localhost:3000")
    settings.DEBUG = True

    assert relying_party.domain() == "localhost"
    assert relying_party.is_allowed("http://localhost:3000")
    assert not relying_party.is_allowed("http://evil.example")


def test_ip_address_is_no_domain(urls):
    urls(api="http://10.0.0.7:8000")

    assert relying_party.domain() == ""


def test_this_machine_is_localhost(urls):
    """Browsers know no passkeys of an IP address."""
    urls(api="http://127.0.0.1:8000")

    assert relying_party.domain() == "localhost"


@pytest.mark.django_db
def test_host_header_changes_nothing(ann, urls, settings):
    settings.ALLOWED_HOSTS = ["*"]
    urls(api="https://api.example.com")

    answer = ann.api.post("passkeys/login/options", headers={"Host": "evil.example"})

    assert answer.data["options"]["rpId"] == "api.example.com"


@pytest.mark.django_db
def test_native_app_logs_in(ann, urls):
    urls(api="http://testserver", ORIGINS=[APP])
    ann.device = Authenticator(origin=APP)
    ann.enrol()

    assert ann.log_in().status == 200


@pytest.mark.urls("authservice.passkeys.root_urls")
def test_related_origins_are_listed_at_the_root(urls):
    urls(ORIGINS=["https://example.com", "https://example.de", APP], RP_ID="example.com")

    response = Client().get("/.well-known/webauthn")

    assert response["Content-Type"] == "application/json"
    assert response.json() == {"origins": ["https://example.com", "https://example.de"]}
    assert Client().post("/.well-known/webauthn").status_code == 405


class TestChecks:
    def test_https_addresses_need_nothing_else(self, urls):
        urls(front="https://app.example.com", api="https://api.example.com")

        assert ids() == []

    def test_service_without_a_domain(self, urls):
        urls()

        assert ids() == ["E270"]

    def test_no_origin_on_the_domain(self, urls):
        urls(RP_ID="example.com", ORIGINS=["https://example.de"])

        assert ids() == ["E271"]

    def test_addresses_of_the_service_that_are_not_on_the_domain(self, urls):
        urls(front="https://app.example.de", api="https://api.example.de", RP_ID="example.com")

        assert ids() == ["E271"]

    def test_this_machine_in_development_needs_no_address(self, urls, settings):
        settings.DEBUG = True
        urls()

        assert ids() == []

    def test_apps_alone_need_no_page(self, urls):
        urls(RP_ID="example.com", ORIGINS=[APP])

        assert ids() == []

    def test_origin_beside_the_domain_needs_the_file(self, urls):
        urls(RP_ID="example.com", ORIGINS=["https://example.com", "https://example.de"])

        assert ids() == ["W272"]

    @pytest.mark.urls("authservice.passkeys.root_urls")
    def test_origin_beside_the_domain_with_the_file(self, urls):
        urls(RP_ID="example.com", ORIGINS=["https://example.com", "https://example.de"])

        assert ids() == []

    def test_name_that_only_ends_like_the_domain_is_not_below_it(self, urls):
        urls(RP_ID="example.com", ORIGINS=["https://badexample.com"])

        assert ids() == ["E271"]

    def test_page_without_https(self, urls):
        urls(front="https://app.example.com", ORIGINS=["http://app.example.com"])

        assert ids() == ["W273"]

    def test_local_page_without_https(self, urls):
        urls(front="http://localhost:3000", ORIGINS=["http://localhost:3000"])

        assert ids() == []

    @pytest.mark.parametrize("keys", [{}, {"AAGUIDS": [AAGUID]}, {"METADATA_FILE": __file__}])
    def test_attestation_that_refuses_everything(self, urls, keys):
        urls(front="https://app.example.com", ATTESTATION="direct", **keys)

        assert ids() == ["E274"]

    def test_metadata_that_cannot_be_read(self, urls):
        urls(
            front="https://app.example.com",
            ATTESTATION="direct",
            AAGUIDS=[AAGUID],
            METADATA_FILE=__file__,
        )

        assert ids() == ["E276"]

    def test_missing_package(self, urls, monkeypatch):
        urls(
            front="https://app.example.com",
            ATTESTATION="direct",
            AAGUIDS=[AAGUID],
            METADATA_FILE=__file__,
        )
        monkeypatch.setattr(checks, "find_spec", lambda name: None)

        assert ids() == ["E275"]
