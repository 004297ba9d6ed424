"""Keys are rotated in use, and private keys are never printed unintentionally."""

import os

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.core.management import CommandError, call_command

from authservice.core.tokens import signing
from authservice.key_file import load
from tests.support import forging

pytestmark = pytest.mark.django_db

JWKS = ".well-known/jwks.json"
KEYS = "authservice_keys"
POSIX = pytest.mark.skipif(os.name != "posix", reason="the system has no file modes")


def states(file):
    return [entry["state"] for entry in load(file)]


def kid(token):
    return forging.header(token)["kid"]


def published(api):
    return {key["kid"] for key in api.get(JWKS).body["keys"]}


# Rotation in use


@pytest.mark.parametrize("alg", signing.ALGORITHMS)
def test_tokens_stay_valid_after_key_rotation(api, keys, restart, clock, alg):
    keys("generate", "--alg", alg)
    keys("generate", "--alg", alg)
    restart()
    before = api.sign_up()["access_token"]
    clock.forward(hours=24)
    restart()
    before = api.log_in()["access_token"]

    keys("rotate")
    restart()
    after = api.log_in()["access_token"]

    assert kid(before) != kid(after)
    assert api.get("me", token=before).status == 200
    assert api.get("me", token=after).status == 200
    assert published(api) == {kid(before), kid(after)}


def test_process_before_restart_accepts_tokens_of_the_next_key(api, keys, restart, clock, file):
    keys("generate")
    keys("generate")
    restart()
    stale = load(file)
    clock.forward(days=1)
    keys("rotate")
    restart()
    token = api.sign_up()["access_token"]

    restart_with = signing.KeyRing(tuple(signing.parsed(stale)))

    assert restart_with.read(token)["typ"] == "access"


def test_key_rotation_by_cron_never_refuses_valid_token(api, keys, restart, clock, file):
    keys("generate")
    restart()
    api.sign_up()
    for _ in range(4):
        token = api.log_in()["access_token"]
        keys("rotate", "--generate")
        keys("retire")
        restart()
        assert api.get("me", token=token).status == 200
        clock.forward(days=30)

    assert sorted(states(file)) == ["active", "next", "retired"]


# Generate


def test_generate_makes_first_key_active_and_second_next(keys, file):
    keys("generate")
    keys("generate")

    assert states(file) == ["active", "next"]


def test_generate_refuses_second_next_key(keys, file):
    keys("generate")
    keys("generate")

    with pytest.raises(CommandError, match="rotate first"):
        keys("generate")
    assert states(file) == ["active", "next"]


@pytest.mark.parametrize("alg", signing.ALGORITHMS)
def test_generate_writes_entry_that_settings_accept(keys, file, alg):
    keys("generate", "--alg", alg)

    (key,) = signing.parsed(load(file))
    assert (key.alg, key.kid) == (alg, load(file)[0]["kid"])


def test_generate_without_file_prints_private_key(capsys):
    call_command(KEYS, "generate")
    out, err = capsys.readouterr()

    private = load_pem_private_key(out.encode(), password=None)
    assert private.public_key() is not None
    assert '"state": "next"' in err
    assert "PRIVATE" not in err


def test_generate_without_file_prints_kid_to_stderr(capsys):
    call_command(KEYS, "generate")
    out, err = capsys.readouterr()

    (key,) = signing.parsed([{"alg": "EdDSA", "private_key": out}])
    assert key.kid in err


# List


def test_list_shows_kid_algorithm_and_state(keys, file):
    keys("generate", "--alg", "ES256")
    keys("generate")
    first, second = load(file)

    assert keys("list").splitlines() == [
        f"{first['kid']}  ES256  active",
        f"{second['kid']}  EdDSA  next",
    ]


def test_list_without_file_shows_keys_of_settings(run, keys, restart, file):
    keys("generate")
    restart()

    assert run(KEYS, "list") == keys("list")


def test_list_without_keys_shows_derived_key_and_its_fallbacks(run, settings):
    settings.SECRET_KEY_FALLBACKS = ["an older secret of the tests, long enough too"]

    assert [line.split()[1:] for line in run(KEYS, "list").splitlines()] == [
        ["HS256", "active"],
        ["HS256", "retired"],
    ]


@pytest.mark.parametrize("step", ["generate", "list", "rotate", "retire"])
def test_key_command_with_file_never_prints_private_key(keys, file, step, capsys):
    keys("generate")
    keys("generate")
    secrets = [line for entry in load(file) for line in entry["private_key"].splitlines()]
    options = ["--force"] if step in ("rotate", "retire") else []

    output = ""
    try:
        output = keys(step, *options)
    except CommandError as error:
        output = str(error)

    assert not [line for line in secrets if line in output]


@POSIX
def test_key_file_readable_by_others_causes_warning(keys, file, capsys):
    keys("generate")
    file.chmod(0o644)

    call_command(KEYS, "list", "--file", str(file))

    assert "chmod 600" in capsys.readouterr().err
