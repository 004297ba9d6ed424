"""Token and user info endpoints that misbehave, and what of them may be seen."""

import logging
import time

import pytest
from django.conf import settings
from django.db import transaction

from authservice.kernel.outbound import InsideTransaction
from authservice.kernel.secret import Secret
from authservice.oauth.provider import ProviderError, TokenExchangeFailed, UserInfoFailed
from authservice.oauth.provider_settings import find_provider
from tests.kernel.outbound.servers import served
from tests.oauth.providers.conftest import LOOPBACK, new_flow


@pytest.fixture
def discord(provider, standin):
    standin.answers["/user"] = {"id": "7", "email": "ann@example.com", "verified": True}
    return lambda **more: provider("discord", **{**standin.settings(), **more})


def test_wrong_client_secret_is_refused_by_the_provider(discord, log_in):
    with pytest.raises(TokenExchangeFailed):
        log_in(discord(CLIENT_SECRET="wrong"))


@pytest.mark.parametrize("name", ["redirect_uri", "code_verifier"])
def test_code_of_another_flow_is_refused_by_the_provider(discord, standin, name):
    provider, flow = discord(), new_flow("discord")
    callback = standin.approve(provider.authorization_url(flow))
    other = {"redirect_uri": "http://testserver/elsewhere", "code_verifier": Secret("v" * 43)}

    with pytest.raises(TokenExchangeFailed):
        provider.complete(callback, new_flow("discord", **{name: other[name]}))


def test_provider_without_pkce_gets_no_verifier(discord, standin, log_in):
    log_in(discord(PKCE=False))

    assert "code_verifier" not in standin.asked("/token")[0]


@pytest.mark.parametrize("parameters", [{}, {"code": ""}, {"code": "c", "error": "access_denied"}])
def test_callback_without_a_code_is_refused(discord, standin, parameters):
    with pytest.raises(ProviderError):
        discord().complete({"state": "s", **parameters}, new_flow("discord"))
    assert standin.asked("/token") == []


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        "token",
        None,
        b"<html>",
        b"access_token=a&token_type=bearer",
        {"access_token": ""},
        {"access_token": None},
        {"access_token": 7},
        {"access_token": "a\r\nX-Evil: 1"},
        {"access_token": "a", "token_type": "mac"},
        (400, {"access_token": "a"}),
        (201, {"access_token": "a"}),
        (302, {"access_token": "a"}),
    ],
    ids=repr,
)
def test_answer_without_a_bearer_token_is_refused(discord, standin, log_in, answer):
    standin.answers["/token"] = answer

    with pytest.raises(TokenExchangeFailed):
        log_in(discord())
    assert standin.asked("/user") == []


@pytest.mark.parametrize(
    ("given", "known"),
    [
        (3600, True),
        ("3600", True),
        (0, False),
        (-1, False),
        (True, False),
        ("soon", False),
        (1e300, False),
        (None, False),
        ([], False),
    ],
)
def test_expiry_of_any_type_is_read_or_ignored(discord, standin, log_in, given, known):
    standin.tokens["expires_in"] = given

    assert (log_in(discord()).tokens.expires_at is not None) == known


@pytest.mark.parametrize("answer", [[], "x", None, b"<", (401, {"id": "7"}), (302, {"id": "7"})])
def test_profile_that_is_garbage_is_refused(discord, standin, log_in, answer):
    standin.answers["/user"] = answer

    with pytest.raises(UserInfoFailed):
        log_in(discord())


def test_profile_with_wrong_types_is_read_as_empty(discord, standin, log_in):
    standin.answers["/user"] = {"id": 7, "email": {"a": "b"}, "verified": 1, "username": {"a": 1}}
    profile = log_in(discord()).profile

    assert (profile.subject, profile.email, profile.email_verified, profile.name) == (
        "7",
        "",
        False,
        "",
    )


@pytest.mark.parametrize("path", ["/token", "/user"])
def test_redirect_to_a_link_local_address_is_not_followed(discord, standin, log_in, path):
    standin.headers["Location"] = "http://169.254.169.254/latest/meta-data/"
    standin.answers[path] = (302, {})

    with pytest.raises((TokenExchangeFailed, UserInfoFailed)):
        log_in(discord())


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://[::ffff:a9fe:a9fe]/"])
def test_link_local_token_endpoint_is_refused(discord, log_in, url):
    with pytest.raises(TokenExchangeFailed):
        log_in(discord(TOKEN_URL=url))


def test_private_endpoint_is_refused_unless_allowed_by_name(discord, standin, log_in, configure):
    configure(
        OAUTH={"PROVIDERS": {"discord": standin.settings()}},
        OUTBOUND={"INSECURE_HOSTS": LOOPBACK},
    )
    with pytest.raises(TokenExchangeFailed):
        log_in(find_provider("discord"))
    assert standin.requests == []


def hostile(configure, discord, server, **outbound):
    provider = discord(TOKEN_URL=server.url)
    configure(OUTBOUND={**settings.AUTHSERVICE["OUTBOUND"], **outbound})
    return provider


def test_silent_token_endpoint_is_given_up(discord, log_in, configure):
    with served(lambda client, server: server.stopped.wait(5)) as server:
        provider = hostile(configure, discord, server, TIMEOUT=0.3)
        start = time.monotonic()
        with pytest.raises(TokenExchangeFailed):
            log_in(provider)

    assert time.monotonic() - start < 2


def test_token_endpoint_with_100_mb_is_given_up(discord, log_in, configure):
    def flood(client, server):
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n")
        for _ in range(100):
            client.sendall(b"x" * 1024 * 1024)

    with served(flood) as server:
        provider = hostile(configure, discord, server)
        with pytest.raises(TokenExchangeFailed):
            log_in(provider)


@pytest.mark.django_db(transaction=True)
def test_exchange_inside_a_transaction_is_refused(discord, standin, log_in):
    provider = discord()
    with transaction.atomic(), pytest.raises(InsideTransaction):
        log_in(provider)

    assert standin.requests == []


# What may be seen


def test_log_names_known_errors_alone(discord, standin, log_in, caplog):
    standin.answers["/token"] = (400, {"error": "invalid_grant", "error_description": "evil"})
    with pytest.raises(TokenExchangeFailed):
        log_in(discord())
    standin.answers["/token"] = (400, {"error": "evil\ncode"})
    with pytest.raises(TokenExchangeFailed):
        log_in(discord())

    assert caplog.messages == [
        "discord: the token endpoint answered 400, invalid_grant",
        "discord: the token endpoint answered 400, no known error",
    ]


def frames_of(error):
    trace = error.__traceback__
    while trace:
        if "/authservice/oauth" in trace.tb_frame.f_code.co_filename:
            yield trace.tb_frame
        trace = trace.tb_next


@pytest.mark.parametrize("path", ["/token", "/user", "neither"])
def test_no_secret_is_in_a_log_or_a_local_variable(discord, standin, caplog, path):
    caplog.set_level(logging.DEBUG)
    provider, flow = discord(), new_flow("discord")
    callback = standin.approve(provider.authorization_url(flow))
    standin.answers[path] = (500, {"access_token": "access-1"})
    standin.answers["/user"] = {"id": None} if path == "neither" else standin.answers["/user"]
    wrapped = {name: Secret(value) for name, value in callback.items()}

    with pytest.raises(ProviderError) as raised:
        provider.complete(wrapped, flow)

    shown = "".join(repr(frame.f_locals) for frame in frames_of(raised.value)) + caplog.text
    secrets = [
        callback["code"],
        callback["state"],
        flow.code_verifier.reveal(),
        "access-1",
        "secret of client 1",
    ]
    assert [secret for secret in secrets if secret in shown] == []
