"""The whole flow with each named provider, from the link of the front end to the account: its
endpoints answer on loopback in the shapes of its documentation, over our own client."""

from urllib.parse import urlencode

import pytest

from authservice.core.models import Account
from authservice.oauth.models import LinkedAccount
from authservice.oauth.provider_settings import BUILT_IN
from tests.oauth.browsing import ANN
from tests.oauth.providers.conftest import LOOPBACK, settings_of
from tests.oauth.providers.standin import CLIENT_ID, CLIENT_SECRET, stand_in
from tests.oauth.servers import parameters_of
from tests.support.people import users

pytestmark = pytest.mark.django_db

PROVEN = {"email": ANN, "email_verified": True}
TENANT = "11111111-2222-3333-4444-555555555555"
WORKSPACE = {"https://slack.com/user_id": "U0R7JM", "https://slack.com/team_id": "T0R7GR"}
# What a provider says about a user whose address it has verified: the claims of the ID token and
# the answers of its other endpoints. Microsoft and Facebook verify none.
VERIFIED = {
    "google": ({"sub": "117", **PROVEN}, {}),
    "github": (
        None,
        {
            "/user": {"id": 583231, "login": "octocat"},
            "/user/emails": [{"email": ANN, "primary": True, "verified": True}],
        },
    ),
    "discord": (None, {"/user": {"id": "8035", "email": ANN, "verified": True}}),
    "apple": ({"sub": "001.a.1", "email": ANN, "email_verified": "true"}, {}),
    "gitlab": ({"sub": "42"}, {"/user": {"sub": "42", **PROVEN}}),
    "linkedin": (None, {"/user": {"sub": "782bbtaQ", **PROVEN}}),
    "slack": ({"sub": "U0R7JM", **WORKSPACE, **PROVEN}, {}),
}
UNVERIFIED = {
    "google": ({"sub": "117", "email": ANN, "email_verified": False}, {}),
    "github": (
        None,
        {
            "/user": {"id": 583231, "login": "octocat", "email": ANN},
            "/user/emails": [{"email": ANN, "primary": True, "verified": False}],
        },
    ),
    "microsoft": (
        {"iss": f"{{url}}/{TENANT}/v2.0", "tid": TENANT, "sub": "AAA", "oid": "48d31887"},
        {"/user": {"id": "48d31887", "mail": ANN, "userPrincipalName": ANN}},
    ),
    "discord": (None, {"/user": {"id": "8035", "email": ANN, "verified": False}}),
    "apple": ({"sub": "001.a.1", "email": ANN, "email_verified": "false"}, {}),
    "facebook": (None, {"/user": {"id": "10158", "email": ANN}}),
    "gitlab": ({"sub": "42"}, {"/user": {"sub": "42", "email": ANN}}),
    "linkedin": (None, {"/user": {"sub": "782bbtaQ", "email": ANN}}),
    "slack": ({"sub": "U0R7JM", **WORKSPACE, "email": ANN}, {}),
}


@pytest.fixture
def sign_in(browser, configure):
    """`sign_in("github", claims, answers)` logs in with the provider."""
    with stand_in() as standin:

        def sign_in(name, claims, answers, **parameters):
            if name == "apple":  # its client secret is a signed token, which test_apple.py reads
                standin._credentials = lambda *_: (CLIENT_ID, CLIENT_SECRET)
            configure(
                OAUTH={"PROVIDERS": {name: settings_of(standin, name)}},
                OUTBOUND={"PRIVATE_HOSTS": LOOPBACK, "INSECURE_HOSTS": LOOPBACK},
            )
            if claims and "iss" in claims:
                claims = {**claims, "iss": claims["iss"].format(url=standin.url)}
            standin.claims = claims
            standin.answers.update(answers)
            url = browser.start(name)
            sent = urlencode({**standin.approve(url), **parameters})
            address = f"{parameters_of(url)['redirect_uri']}?{sent}"
            return browser.post_back(address) if name == "apple" else browser.come_back(address)

        yield sign_in


def test_every_named_provider_is_tested_here():
    assert {*VERIFIED, *UNVERIFIED} == set(BUILT_IN)


@pytest.mark.parametrize("name", VERIFIED)
def test_new_user_with_a_verified_address_logs_in_and_returns(sign_in, name):
    first = sign_in(name, *VERIFIED[name]).data
    again = sign_in(name, *VERIFIED[name]).data

    assert (first["is_new_user"], first["provider"]) == (True, name)
    assert (again["is_new_user"], again["user"]["id"]) == (False, first["user"]["id"])
    assert first["user"]["email_verified"] is True
    assert (users(), LinkedAccount.objects.get().provider) == (1, name)


@pytest.mark.parametrize("name", VERIFIED)
def test_verified_address_links_the_account_with_it(sign_in, ann, name):
    data = sign_in(name, *VERIFIED[name]).data

    assert (data["is_new_user"], data["user"]["id"]) == (False, ann["user"]["id"])


@pytest.mark.parametrize("name", UNVERIFIED)
def test_unverified_address_links_no_account(sign_in, ann, name):
    answer = sign_in(name, *UNVERIFIED[name])

    assert answer.error == (409, "OAUTH_EMAIL_EXISTS")
    assert not LinkedAccount.objects.exists()


@pytest.mark.parametrize("name", UNVERIFIED)
def test_unverified_address_of_a_new_user_stays_unverified(sign_in, name):
    assert sign_in(name, *UNVERIFIED[name]).data["is_new_user"] is True

    assert Account.objects.get().verified_email_key == ""


NAME = '{"name": {"firstName": "Ann", "lastName": "Lee"}, "email": "evil@example.com"}'


@pytest.mark.parametrize(
    ("user", "name"),
    [
        (NAME, "Ann Lee"),
        (NAME.replace(" ", "\n"), "Ann Lee"),
        (NAME.replace(" ", "\r\n\t"), "Ann Lee"),
        (NAME.replace("Ann", "An\tn"), "Ann Lee"),
        (NAME + "\n", "Ann Lee"),
        (NAME + " " * 10000, "Ann Lee"),
        (NAME[:-1], ""),
        ("{" + "x" * 10000, ""),
        ("\x00", ""),
        ("[" * 4000, ""),
        ('{"name": "Ann"}', ""),
        ("not JSON", ""),
        ("", ""),
    ],
    ids=lambda text: f"{len(text)}-{text[:8]!r}",
)
def test_name_that_apple_sends_never_refuses_the_login(sign_in, user, name):
    answer = sign_in("apple", *VERIFIED["apple"], user=user)

    assert (answer.status, answer.data["user"]["name"]) == (200, name)


def test_id_token_beside_the_code_is_ignored(sign_in):
    answer = sign_in("apple", *VERIFIED["apple"], id_token="x" * 20000)

    assert answer.status == 200
