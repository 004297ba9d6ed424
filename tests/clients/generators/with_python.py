"""The calls of a program with the client of openapi-python-client, in the package `generated`."""

import os

from generated import AuthenticatedClient, Client
from generated.api.account import get_me
from generated.api.login import log_in, log_out, refresh_tokens
from generated.api.organizations import (
    create_organization,
    get_member,
    get_organization,
    switch_organization,
)
from generated.models import (
    Authenticated,
    CreateOrganizationBody,
    ErrorCode,
    LogInResponse200,
    LogInWithEmail,
    MemberEnvelope,
    MessageResponseEnvelope,
    OrganizationEnvelope,
    OrganizationOfMemberEnvelope,
    Refreshed,
    RefreshedEnvelope,
    RefreshTokensBody,
    Refusal,
    Role,
    SwitchedTokens,
    SwitchedTokensEnvelope,
    SwitchOrganizationBody,
    UserEnvelope,
)

URL, EMAIL = os.environ["AUTHSERVICE_URL"], os.environ["EMAIL"]


def main() -> None:
    anonymous = Client(base_url=URL)
    refused = log_in.sync(client=anonymous, body=LogInWithEmail(email=EMAIL, password="wrong"))
    assert isinstance(refused, Refusal)
    assert refused.data.code is ErrorCode.INVALID_CREDENTIALS

    password = os.environ["PASSWORD"]
    answer = log_in.sync(client=anonymous, body=LogInWithEmail(email=EMAIL, password=password))
    assert isinstance(answer, LogInResponse200)
    tokens: Authenticated | Refreshed | SwitchedTokens
    assert isinstance(answer.data, Authenticated)
    tokens = answer.data

    me = get_me.sync(client=signed_in(tokens))
    assert isinstance(me, UserEnvelope)
    assert me.data.email == EMAIL

    tokens = refresh(anonymous, tokens)
    body = CreateOrganizationBody(name="Acme")
    created = create_organization.sync(client=signed_in(tokens), body=body)
    assert isinstance(created, OrganizationEnvelope)
    org_id = created.data.id
    read = get_organization.sync(org_id, client=signed_in(tokens))
    assert isinstance(read, OrganizationOfMemberEnvelope)
    member = get_member.sync(org_id, me.data.id, client=signed_in(tokens))
    assert isinstance(member, MemberEnvelope)
    assert member.data.role is Role.OWNER

    switch = SwitchOrganizationBody(org_id=org_id, refresh_token=tokens.refresh_token)
    switched = switch_organization.sync(client=signed_in(tokens), body=switch)
    assert isinstance(switched, SwitchedTokensEnvelope)
    tokens = refresh(anonymous, switched.data)

    ended = log_out.sync(client=signed_in(tokens))
    assert isinstance(ended, MessageResponseEnvelope)
    assert isinstance(get_me.sync(client=signed_in(tokens)), Refusal)


def signed_in(tokens: Authenticated | Refreshed | SwitchedTokens) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=URL, token=tokens.access_token)


def refresh(client: Client, tokens: Authenticated | Refreshed | SwitchedTokens) -> Refreshed:
    assert isinstance(tokens.refresh_token, str)
    body = RefreshTokensBody(refresh_token=tokens.refresh_token)
    refreshed = refresh_tokens.sync(client=client, body=body)
    assert isinstance(refreshed, RefreshedEnvelope)
    return refreshed.data


main()
