"""For whose addresses a provider speaks, and which accounts it is linked to by them."""

from itertools import product
from uuid import UUID

import pytest
from django.core.checks import run_checks

from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import ANN, profile
from tests.oauth.in_process import office
from tests.support.flows import account, prove
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

DISABLED = (403, "OAUTH_ACCOUNT_LINKING_DISABLED")
TAKEN = (409, "OAUTH_EMAIL_EXISTS")

# The settings of a provider, and what it may do for an address at example.com.
PROVIDERS = {
    "default": ({}, None),
    "all": ({"EMAIL_DOMAINS": ["*"]}, None),
    "all as a text": ({"EMAIL_DOMAINS": "*"}, None),
    "the domain": ({"EMAIL_DOMAINS": ["other.example", "Example.COM"]}, None),
    "another domain": ({"EMAIL_DOMAINS": ["other.example"]}, TAKEN),
    "a parent domain": ({"EMAIL_DOMAINS": ["le.com"]}, TAKEN),
    "no domain": ({"EMAIL_DOMAINS": []}, TAKEN),
    "never by address": ({"LINK_BY_EMAIL": False}, DISABLED),
    "never, another domain": ({"LINK_BY_EMAIL": False, "EMAIL_DOMAINS": ["x.example"]}, TAKEN),
}
# What changes the account, and whether it has rights over others.
ACCOUNTS = {
    "plain": (lambda user, row: None, False),
    "staff": (lambda user, row: setattr(user, "is_staff", True), True),
    "superuser": (lambda user, row: setattr(user, "is_superuser", True), True),
    "super admin": (lambda user, row: setattr(row, "is_super_admin", True), True),
}


@pytest.mark.parametrize(
    ("kind", "who"), [*product(PROVIDERS, ACCOUNTS)], ids=lambda value: value.replace(" ", "-")
)
def test_provider_is_linked_by_address_only_where_it_may(browser, ann, providers, kind, who):
    settings, refused = PROVIDERS[kind]
    change, has_rights = ACCOUNTS[who]
    user, row = the_user(), account()
    change(user, row)
    user.save()
    row.save()
    providers(acme=settings)

    answer = browser.sign_in()

    expected = refused or (DISABLED if has_rights else None)
    assert (answer.error if answer.status >= 400 else None) == expected
    assert LinkedAccount.objects.exists() is (expected is None)


@pytest.mark.parametrize(
    ("domain", "email", "vouched"),
    [
        ("bücher.example", "ann@xn--bcher-kva.example", True),
        ("xn--bcher-kva.example", "ann@BÜCHER.example", True),
        ("example.com", "ann@sub.example.com", False),
        ("example.com", "ann@notexample.com", False),
        ("example.com", "ann@example.com.evil.example", False),
    ],
)
def test_domains_are_compared_in_idna(browser, providers, domain, email, vouched):
    providers(acme={"EMAIL_DOMAINS": [domain]})

    answer = browser.sign_in(profile(email=email))

    assert answer.data["user"]["email_verified"] is vouched


def test_user_of_another_domain_gets_an_account_with_a_verification_mail(browser, providers, post):
    providers(acme={"EMAIL_DOMAINS": ["other.example"]})

    assert browser.sign_in().data["user"]["email_verified"] is False
    assert "verify-email" in post.kinds()


@pytest.mark.parametrize(
    ("keys", "proven"), [({}, True), ({"EMAIL_DOMAINS": ["other.example"]}, False)]
)
def test_signed_in_user_links_a_provider_that_proves_addresses_of_its_domains_only(
    browser, api, providers, keys, proven
):
    providers(acme=keys)

    browser.link(api.sign_up()["access_token"])

    assert LinkedAccount.objects.exists()
    assert bool(account().proven_email_key) is proven
    assert bool(account().verified_email_key) is proven


def test_signed_in_staff_link_and_log_in(browser, api, ann):
    user = the_user()
    user.is_staff = True
    user.save()
    browser.link(api.log_in()["access_token"])

    assert browser.sign_in().data["user"]["id"] == ann["user"]["id"]


def test_staff_are_notified_of_a_refused_login_once_a_day(browser, ann, post):
    row = account()
    row.is_super_admin = True
    row.save()

    assert [browser.sign_in().error for _ in range(2)] == [DISABLED] * 2

    assert post.kinds() == ["provider-refused"]


@pytest.mark.parametrize(
    "source", [{"CLASS": "tests.oauth.in_process.InProcess"}, {"ISSUER": "https://x.example"}]
)
@pytest.mark.parametrize(
    ("keys", "warned"),
    [({}, True), ({"EMAIL_DOMAINS": ["*"]}, False), ({"EMAIL_DOMAINS": []}, False)],
)
def test_deploy_check_warns_of_a_provider_without_domains(oauth, source, keys, warned):
    given = {**source, "CLIENT_ID": "a", "CLIENT_SECRET": "b", **keys}
    oauth(PROVIDERS={"acme": given, "github": {"CLIENT_ID": "a", "CLIENT_SECRET": "b"}})

    found = [one for one in run_checks(include_deployment_checks=True) if one.id.endswith("W209")]

    assert bool(found) is warned
    assert all("'acme'" in one.msg for one in found)
    assert not [one for one in run_checks(databases=[]) if one.id.endswith("W209")]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("github", {"EMAILS_URL": "https://github.example.com/api/v3/user/emails"}),
        ("github", {"TOKEN_URL": "https://github.example.com/login/oauth/access_token"}),
        ("google", {"ISSUER": "https://sso.example.com"}),
        ("google", {"JWKS_URL": "https://sso.example.com/keys"}),
        ("discord", {"USERINFO_URL": "https://chat.example.com/users/@me"}),
        ("microsoft", {"TENANT": str(UUID(int=1)), "TRUST_TENANT_EMAIL": True}),
    ],
)
def test_deploy_check_warns_of_a_named_provider_that_others_speak_for(oauth, name, keys):
    given = {"CLIENT_ID": "a", "CLIENT_SECRET": "b", **keys}

    def warned(**more):
        oauth(PROVIDERS={name: {**given, **more}})
        found = run_checks(include_deployment_checks=True)
        assert not [one for one in found if one.id == "authservice.E202"]
        return [one.msg for one in found if one.id.endswith("W209")]

    [warning] = warned()
    assert repr(name) in warning
    assert not warned(EMAIL_DOMAINS=["example.com"])


@pytest.mark.parametrize(
    ("issuer", "warned"),
    [
        ("http://localhost:9400", True),
        ("http://127.0.0.1:9400", True),
        ("https://sso.localhost/realms/one", True),
        ("https://sso.example.com", False),
    ],
)
def test_deploy_check_warns_of_a_provider_for_development(oauth, issuer, warned):
    given = {"CLIENT_ID": "a", "CLIENT_SECRET": "b", "EMAIL_DOMAINS": ["*"], "ISSUER": issuer}
    oauth(PROVIDERS={"google": given})

    found = [one for one in run_checks(include_deployment_checks=True) if issuer in one.msg]

    assert [one.id for one in found] == (["authservice.W216"] if warned else [])
    assert not [one for one in run_checks(databases=[]) if issuer in one.msg]


@pytest.mark.parametrize("domain", ["*.example.com", "@example.com", "ann@example.com", "com", ""])
def test_check_refuses_what_is_no_domain(providers, domain):
    providers(acme={"EMAIL_DOMAINS": [domain]})

    [error] = [one for one in run_checks(databases=[]) if one.id == "authservice.E202"]
    assert "EMAIL_DOMAINS" in error.msg


# Refusals that say whether an address is taken


def by_callback(browser, who):
    return browser.sign_in(who)


def by_token(browser, who):
    nonce = browser.api.post("oauth/acme/nonce").data["nonce"]
    token = office.id_token(who, nonce)
    return browser.api.post("oauth/acme/token", id_token=token, nonce=nonce)


@pytest.mark.parametrize("enter", [by_callback, by_token])
@pytest.mark.parametrize(
    ("keys", "verified"),
    [
        ({}, False),
        ({"ALLOW_ACCOUNT_LINKING": False}, True),
        ({"ALLOW_SIGNUP": False}, True),
    ],
)
def test_refusals_that_tell_of_an_address_share_the_limit_of_is_available(
    browser, api, oauth, clock, configure, enter, keys, verified
):
    configure(THROTTLE={"RATES": {"is-available": "3/min"}})
    oauth(**keys)
    if "ALLOW_SIGNUP" not in keys:
        api.sign_up()
        prove()
    who = profile("eve", ANN, email_verified=verified)
    api.post("is-available", email="free@example.com")

    answers = [enter(browser, who) for _ in range(3)]

    assert [answer.status == 429 for answer in answers] == [False, False, True]
    assert answers[2].code == "TOO_MANY_REQUESTS"
    assert int(answers[2].headers["Retry-After"]) <= 60
    assert api.post("is-available", email="free@example.com").status == 429
