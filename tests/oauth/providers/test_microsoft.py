"""Microsoft: tenants, and which of its addresses are verified."""

import pytest

from authservice.oauth.provider import Profile, TokenExchangeFailed

TENANT = "11111111-2222-3333-4444-555555555555"


def microsoft(standin, mail="megan@contoso.test", tenant=TENANT, **claims):
    standin.claims = {
        "iss": f"{standin.url}/{tenant}/v2.0",
        "tid": tenant,
        "sub": "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
        "oid": "48d31887-5fad-4d73-a9f5-3c356e68a038",
        "email": "claimed@contoso.test",
        **claims,
    }
    standin.answers["/user"] = {
        "@odata.context": "https://graph.microsoft.com/v1.0/$metadata#users/$entity",
        "displayName": "Megan Bowen",
        "givenName": "Megan",
        "surname": "Bowen",
        "mail": mail,
        "userPrincipalName": "MeganB@contoso.test",
        "id": "48d31887-5fad-4d73-a9f5-3c356e68a038",
    }


def test_microsoft_mail_is_not_verified(named, standin, log_in):
    microsoft(standin)

    assert log_in(named("microsoft")).profile == Profile(
        subject="48d31887-5fad-4d73-a9f5-3c356e68a038",
        email="megan@contoso.test",
        email_verified=False,
        name="Megan Bowen",
        first_name="Megan",
        last_name="Bowen",
    )


@pytest.mark.parametrize("flag", [True, "true", "1"])
def test_microsoft_claim_of_a_verified_domain_verifies_the_claimed_address(
    named, standin, log_in, flag
):
    microsoft(standin, xms_edov=flag)
    profile = log_in(named("microsoft")).profile

    assert (profile.email, profile.email_verified) == ("claimed@contoso.test", True)


@pytest.mark.parametrize("flag", [False, "false", "0", None])
def test_microsoft_claim_of_an_unverified_domain_verifies_nothing(named, standin, log_in, flag):
    microsoft(standin, xms_edov=flag)
    profile = log_in(named("microsoft")).profile

    assert (profile.email, profile.email_verified) == ("megan@contoso.test", False)


def test_microsoft_pinned_tenant_can_be_trusted(named, standin, log_in):
    microsoft(standin)
    profile = log_in(named("microsoft", TENANT=TENANT, TRUST_TENANT_EMAIL=True)).profile

    assert (profile.email, profile.email_verified) == ("megan@contoso.test", True)


def test_microsoft_user_of_another_tenant_is_refused(named, standin, log_in):
    microsoft(standin, tenant=TENANT.replace("1", "9"))

    with pytest.raises(TokenExchangeFailed):
        log_in(named("microsoft", TENANT=TENANT))


def test_microsoft_issuer_of_another_tenant_than_the_claim_is_refused(named, standin, log_in):
    microsoft(standin, iss=f"{standin.url}/{TENANT.replace('1', '9')}/v2.0")

    with pytest.raises(TokenExchangeFailed):
        log_in(named("microsoft"))


def test_microsoft_endpoints_are_those_of_the_tenant(provider):
    known = provider("microsoft", CLIENT_ID="c", CLIENT_SECRET="s", TENANT=TENANT)

    assert known.token_url().startswith(f"https://login.microsoftonline.com/{TENANT}/")


def test_microsoft_endpoints_are_those_of_a_national_cloud(provider):
    cloud = "https://login.microsoftonline.us"
    graph = "https://graph.microsoft.us/v1.0/me"
    known = provider(
        "microsoft", CLIENT_ID="c", CLIENT_SECRET="s", ISSUER=cloud, USERINFO_URL=graph
    )

    endpoints = (known.authorization_base(), known.token_url(), known.jwks_url())
    assert all(endpoint.startswith(f"{cloud}/common/") for endpoint in endpoints)
    assert known.userinfo_url() == graph
    assert known.is_issuer({"iss": f"{cloud}/{TENANT}/v2.0", "tid": TENANT})
    assert not known.is_issuer(
        {"iss": f"https://login.microsoftonline.com/{TENANT}/v2.0", "tid": TENANT}
    )
