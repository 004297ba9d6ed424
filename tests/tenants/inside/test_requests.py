"""Requests, jobs and sessions of two tenants that have a user of the same address each."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account, OneTimeToken, Session
from tests.support.client import PASSWORD

ANN, BOB, CID = "ann@example.com", "bob@example.com", "cid@example.com"
NEW = "quince jelly 17 shutters"


@pytest.fixture(scope="module")
def signed_up(tenants, mails):
    """The tokens of Ann in each tenant, and the verification links from the mails to her."""
    tokens, links = [], []
    for tenant in tenants:
        answer = tenant.post("signup", email=ANN, password=PASSWORD)
        assert answer.status == 201, answer.body
        tokens.append(answer.data)
        links.append(mails.link())
    return tokens, links


def test_sign_up_writes_into_the_schema_of_its_tenant_only(tenants, signed_up):
    for model in (get_user_model(), Account, Session):
        assert [tenant.count(model) for tenant in tenants] == [1, 1]


def test_session_of_one_tenant_is_refused_in_the_other(tenants, signed_up):
    acme, globex = tenants
    first, second = signed_up[0]
    # Both users have the same number, so only the session tells them apart.
    assert first["user"]["id"] == second["user"]["id"]

    assert acme.get("me", first["access_token"]).status == 200
    assert globex.get("me", first["access_token"]).error == (401, "INVALID_TOKEN")
    refused = globex.post("refresh", refresh_token=first["refresh_token"])
    assert refused.error == (401, "INVALID_REFRESH_TOKEN")
    globex.request("POST", "logout", {}, token=first["access_token"])
    assert acme.get("me", first["access_token"]).status == 200
    assert acme.post("refresh", refresh_token=first["refresh_token"]).status == 200


def test_link_of_a_mail_works_in_its_tenant_only(tenants, signed_up):
    first, second = signed_up[1]
    acme, globex = tenants

    assert globex.get(first).error == (400, "INVALID_VERIFICATION_TOKEN")
    assert acme.get(first).data["status"] == "success"
    verified = [
        tenant.get("me", tokens["access_token"]).data["email_verified"]
        for tenant, tokens in zip(tenants, signed_up[0], strict=True)
    ]
    assert verified == [True, False]
    assert globex.get(second).data["status"] == "success"


def test_worker_looks_for_the_user_in_the_tenant_of_the_request(tenants, signed_up, mails):
    """Bob is a user of one tenant only, and the jobs of both tenants share a worker."""
    acme, globex = tenants
    globex.post("signup", email=BOB, password=PASSWORD)
    mails.next()
    before = acme.count(OneTimeToken)

    for tenant in (acme, globex, acme, globex):
        assert tenant.post("forgot-password", email=BOB).status == 200
    links = [mails.link(), mails.link()]

    assert acme.count(OneTimeToken) == before
    body = dict(part.split("=") for part in links[-1].partition("?")[2].split("&"))
    reset = {"email": BOB, "token": body["token"], "new_password": NEW}
    assert acme.post("reset-password", **reset).error == (400, "INVALID_TOKEN")
    assert globex.post("reset-password", **reset).status == 200
    assert globex.post("login", email=BOB, password=NEW).status == 200
    assert acme.post("login", email=BOB, password=NEW).error == (401, "INVALID_CREDENTIALS")


def test_refused_logins_of_one_tenant_lock_no_account_of_the_other(tenants, signed_up, mails):
    acme, globex = tenants
    codes = {acme.post("login", email=ANN, password="wrong").status for _ in range(12)}

    assert codes == {401, 429}
    assert globex.post("login", email=ANN, password=PASSWORD).status == 200


def test_signature_of_a_token_is_not_enough_in_another_tenant(tenants, signed_up, settings):
    """All tenants sign with one key, and their users have the same numbers."""
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "STATELESS": {"CHECK": "signature"}}
    acme, globex = tenants
    while acme.count(get_user_model()) < globex.count(get_user_model()):
        acme.post("signup", email=f"x{acme.count(Account)}@example.com", password=PASSWORD)
    cid, dan = (tenant.post("signup", email=CID, password=PASSWORD).data for tenant in tenants)
    assert cid["user"]["id"] == dan["user"]["id"]

    assert globex.get("me", cid["access_token"]).error == (401, "INVALID_TOKEN")
    assert acme.get("me", cid["access_token"]).status == 200
