"""Keys are turned over in use, and no private one is ever shown by accident."""

import json
import os
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from authservice.core import keyfile, keyring
from authservice.core.keyfile import load
from tests import forging

pytestmark = pytest.mark.django_db

JWKS = ".well-known/jwks.json"
KEYS = "authservice_keys"
POSIX = pytest.mark.skipif(os.name != "posix", reason="the system knows no modes")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "keys.json"


@pytest.fixture
def keys(run, file):
    """`keys("rotate", "--force")` on the file of this test."""
    return lambda step, *options: run(KEYS, step, "--file", str(file), *options)


@pytest.fixture
def restart(configure, file):
    """What a restart of the processes does: settings read the file again."""
    return lambda: configure(SIGNING_KEYS=load(file))


def states(file):
    return [entry["state"] for entry in load(file)]


def kid(token):
    return forging.header(token)["kid"]


def published(api):
    return {key["kid"] for key in api.get(JWKS).body["keys"]}


# In use


@pytest.mark.parametrize("alg", keyring.ALGORITHMS)
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

    restart_with = keyring.KeyRing(tuple(keyring.parsed(stale)))

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


@pytest.mark.parametrize("alg", keyring.ALGORITHMS)
def test_an_entry_is_one_that_settings_take(keys, file, alg):
    keys("generate", "--alg", alg)

    (key,) = keyring.parsed(load(file))
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

    (key,) = keyring.parsed([{"alg": "EdDSA", "private_key": out}])
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


# Rotate


def test_without_a_next_key_there_is_nothing_to_rotate_to(keys, file):
    keys("generate")

    with pytest.raises(CommandError, match="no next key"):
        keys("rotate")


def test_a_next_key_younger_than_a_day_is_not_rotated_to(keys, file, clock):
    keys("generate")
    keys("generate")
    clock.forward(hours=23)

    with pytest.raises(CommandError, match="23 h old"):
        keys("rotate")
    assert states(file) == ["active", "next"]


def test_force_does_not_wait(keys, file):
    keys("generate")
    keys("generate")

    keys("rotate", "--force")

    assert states(file) == ["retired", "active"]


def test_a_retired_key_keeps_its_public_half_only(keys, file):
    keys("generate")
    keys("generate")
    keys("rotate", "--force")

    retired, active = load(file)
    assert "private_key" not in retired
    assert "private_key" in active


def test_generate_without_a_next_key_makes_one_and_rotates_nothing(keys, file):
    keys("generate")

    keys("rotate", "--generate")

    assert states(file) == ["active", "next"]


def test_generate_leaves_a_next_key_behind(keys, file, clock):
    keys("generate")
    keys("generate")
    clock.forward(days=1)

    keys("rotate", "--generate")

    assert states(file) == ["retired", "active", "next"]


def test_force_and_generate_turn_a_leaked_key_over_in_one_step(keys, file):
    keys("generate")

    keys("rotate", "--generate", "--force")

    assert states(file) == ["retired", "active", "next"]


# Retire


@pytest.fixture
def rotated(keys):
    keys("generate")
    keys("generate")
    keys("rotate", "--force")


def test_a_key_whose_tokens_may_live_stays(keys, file, clock, rotated):
    clock.forward(days=1, minutes=15)

    assert keys("retire") == "There is nothing to drop yet.\n"
    assert states(file) == ["retired", "active"]


def test_a_key_whose_tokens_have_expired_goes(keys, file, clock, rotated):
    old = load(file)[0]["kid"]
    clock.forward(days=1, minutes=16)

    assert keys("retire") == f"Dropped {old}.\n"
    assert states(file) == ["active"]


def test_a_longer_life_of_tokens_is_waited_for(keys, file, clock, rotated, configure):
    configure(ACCESS_TOKEN_TTL=timedelta(hours=6))
    clock.forward(days=1, hours=5)

    assert "nothing" in keys("retire")


def test_a_leaked_key_goes_at_once(keys, file, rotated):
    keys("retire", "--force")

    assert states(file) == ["active"]


@pytest.mark.parametrize("moment", [None, "last summer", 7])
def test_a_key_that_does_not_say_when_it_retired_is_left_to_the_operator(
    keys, file, moment, rotated
):
    entries = load(file)
    entries[0]["retired_at"] = moment
    file.write_text(json.dumps(entries))

    with pytest.raises(CommandError, match="no retired_at"):
        keys("retire")


# The file


@POSIX
def test_the_file_is_its_owners_alone(keys, file):
    mask = os.umask(0)
    try:
        keys("generate")
    finally:
        os.umask(mask)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@POSIX
def test_a_change_closes_a_file_that_was_open_to_others(keys, file):
    keys("generate")
    file.chmod(0o666)
    keys("generate")

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_the_file_still_belongs_to_the_service_that_reads_it(keys, file):
    keys("generate")
    os.chown(file, 12345, 12345)
    keys("generate")

    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 12345)


def test_a_change_is_all_or_nothing(keys, file, monkeypatch):
    keys("generate")
    before = file.read_bytes()

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(keyfile.os, "fsync", full)
    with pytest.raises(CommandError, match="no space left"):
        keys("generate")

    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_two_runs_at_once_do_not_lose_a_change(keys, file):
    keys("generate")

    with keyfile.editing(file), pytest.raises(CommandError, match="another run is at work"):
        keys("generate")

    assert states(file) == ["active"]


@POSIX
def test_a_link_to_the_file_stays_a_link(run, keys, file, tmp_path):
    keys("generate")
    link = tmp_path / "current.json"
    link.symlink_to(file)

    run(KEYS, "generate", "--file", str(link))

    assert link.is_symlink()
    assert states(file) == ["active", "next"]


@pytest.mark.parametrize("text", ['{"kid": "-----BEGIN', "{}", '["a key"]', ""])
def test_a_file_that_is_no_list_of_keys_says_so_and_nothing_of_what_it_holds(file, text):
    file.write_text(text)

    with pytest.raises(ImproperlyConfigured, match="key file") as refused:
        load(file)

    assert "BEGIN" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_file_that_is_not_there_says_so(file):
    with pytest.raises(ImproperlyConfigured, match="cannot be read"):
        load(file)


@pytest.mark.parametrize("step", ["list", "rotate", "retire"])
def test_a_step_on_a_file_that_settings_could_not_use_is_refused(keys, file, step):
    file.write_text(json.dumps([{"alg": "EdDSA", "state": "active", "private_key": "no PEM"}]))

    with pytest.raises(CommandError):
        keys(step)


def test_settings_can_load_it_before_anything_is_set_up(keys, file):
    keys("generate")
    program = f"from authservice.core.keyfile import load; print(len(load({str(file)!r})))"

    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        env={name: value for name, value in os.environ.items() if "DJANGO" not in name},
        capture_output=True,
        text=True,
    )

    assert (ran.stdout, ran.returncode) == ("1\n", 0), ran.stderr
