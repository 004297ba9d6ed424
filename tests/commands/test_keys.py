"""Keys are turned over in use, and no private one is ever shown by accident."""

import os

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.core.management import CommandError, call_command

from authservice.core.tokens import signing_keys
from authservice.key_file import load
from tests import forging

pytestmark = pytest.mark.django_db

JWKS = ".well-known/jwks.json"
KEYS = "authservice_keys"
POSIX = pytest.mark.skipif(os.name != "posix", reason="the system knows no modes")


def states(file):
    return [entry["state"] for entry in load(file)]


def kid(token):
    return forging.header(token)["kid"]


def published(api):
    return {key["kid"] for key in api.get(JWKS).body["keys"]}


# In use


@pytest.mark.parametrize("alg", signing_keys.ALGORITHMS)
def test_tokens_outlive_a_rotation(api, keys, restart, clock, alg):
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


def test_a_process_that_was_not_restarted_yet_knows_the_next_key(api, keys, restart, clock, file):
    keys("generate")
    keys("generate")
    restart()
    stale = load(file)
    clock.forward(days=1)
    keys("rotate")
    restart()
    token = api.sign_up()["access_token"]

    restart_with = signing_keys.KeyRing(tuple(signing_keys.parsed(stale)))

    assert restart_with.read(token)["typ"] == "access"


def test_a_whole_round_by_cron_never_refuses_a_live_token(api, keys, restart, clock, file):
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


def test_the_first_key_of_a_file_signs_and_the_second_comes_next(keys, file):
    keys("generate")
    keys("generate")

    assert states(file) == ["active", "next"]


def test_a_third_has_to_wait(keys, file):
    keys("generate")
    keys("generate")

    with pytest.raises(CommandError, match="rotate first"):
        keys("generate")
    assert states(file) == ["active", "next"]


@pytest.mark.parametrize("alg", signing_keys.ALGORITHMS)
def test_an_entry_is_one_that_settings_take(keys, file, alg):
    keys("generate", "--alg", alg)

    (key,) = signing_keys.parsed(load(file))
    assert (key.alg, key.kid) == (alg, load(file)[0]["kid"])


def test_without_a_file_the_private_key_is_printed_for_the_settings(capsys):
    call_command(KEYS, "generate")
    out, err = capsys.readouterr()

    private = load_pem_private_key(out.encode(), password=None)
    assert private.public_key() is not None
    assert '"state": "next"' in err
    assert "PRIVATE" not in err


def test_the_words_beside_a_printed_key_name_its_kid(capsys):
    call_command(KEYS, "generate")
    out, err = capsys.readouterr()

    (key,) = signing_keys.parsed([{"alg": "EdDSA", "private_key": out}])
    assert key.kid in err


# List


def test_the_list_says_kid_algorithm_and_state(keys, file):
    keys("generate", "--alg", "ES256")
    keys("generate")
    first, second = load(file)

    assert keys("list").splitlines() == [
        f"{first['kid']}  ES256  active",
        f"{second['kid']}  EdDSA  next",
    ]


def test_without_a_file_it_lists_what_settings_hold(run, keys, restart, file):
    keys("generate")
    restart()

    assert run(KEYS, "list") == keys("list")


def test_out_of_the_box_it_lists_the_derived_key_and_those_of_the_fallbacks(run, settings):
    settings.SECRET_KEY_FALLBACKS = ["an older secret of the tests, long enough too"]

    assert [line.split()[1:] for line in run(KEYS, "list").splitlines()] == [
        ["HS256", "active"],
        ["HS256", "retired"],
    ]


@pytest.mark.parametrize("step", ["generate", "list", "rotate", "retire"])
def test_no_step_on_a_file_shows_a_private_key(keys, file, step, capsys):
    keys("generate")
    keys("generate")
    secrets = [line for entry in load(file) for line in entry["private_key"].splitlines()]
    options = ["--force"] if step in ("rotate", "retire") else []

    said = ""
    try:
        said = keys(step, *options)
    except CommandError as refused:
        said = str(refused)

    assert not [line for line in secrets if line in said]


@POSIX
def test_a_file_that_others_may_read_is_warned_of(keys, file, capsys):
    keys("generate")
    file.chmod(0o644)

    call_command(KEYS, "list", "--file", str(file))

    assert "chmod 600" in capsys.readouterr().err
