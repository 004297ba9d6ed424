"""The key file: readable by its owner only, and never partially written."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError

from authservice import key_file
from authservice.key_file import load

pytestmark = pytest.mark.django_db

KEYS = "authservice_keys"
POSIX = pytest.mark.skipif(os.name != "posix", reason="the system has no file modes")


def states(file):
    return [entry["state"] for entry in load(file)]


@POSIX
def test_key_file_is_readable_by_its_owner_only(keys, file):
    mask = os.umask(0)
    try:
        keys("generate")
    finally:
        os.umask(mask)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@POSIX
def test_key_file_change_restores_its_mode(keys, file):
    keys("generate")
    file.chmod(0o666)
    keys("generate")

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root changes the owner"
)
def test_key_file_change_keeps_its_owner(keys, file):
    keys("generate")
    os.chown(file, 12345, 12345)
    keys("generate")

    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 12345)


def test_key_file_change_is_atomic(keys, file, monkeypatch):
    keys("generate")
    before = file.read_bytes()

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(key_file.os, "fsync", full)
    with pytest.raises(CommandError, match="no space left"):
        keys("generate")

    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_key_file_refuses_concurrent_change(keys, file):
    keys("generate")

    with key_file.editing(file), pytest.raises(CommandError, match="another run is active"):
        keys("generate")

    assert states(file) == ["active"]


@POSIX
def test_key_file_symlink_stays_a_symlink(run, keys, file, tmp_path):
    keys("generate")
    link = tmp_path / "current.json"
    link.symlink_to(file)

    run(KEYS, "generate", "--file", str(link))

    assert link.is_symlink()
    assert states(file) == ["active", "next"]


@pytest.mark.parametrize("text", ['{"kid": "-----BEGIN', "{}", '["a key"]', ""])
def test_invalid_key_file_is_reported_without_its_contents(file, text):
    file.write_text(text)

    with pytest.raises(ImproperlyConfigured, match="key file") as error:
        load(file)

    assert "BEGIN" not in str(error.value)
    assert error.value.__cause__ is None


def test_missing_key_file_is_reported(file):
    with pytest.raises(ImproperlyConfigured, match="cannot be read"):
        load(file)


@pytest.mark.parametrize("step", ["list", "rotate", "retire"])
def test_key_command_refuses_file_that_settings_could_not_load(keys, file, step):
    file.write_text(json.dumps([{"alg": "EdDSA", "state": "active", "private_key": "no PEM"}]))

    with pytest.raises(CommandError):
        keys(step)


def test_settings_can_load_key_file_before_django_setup(keys, file):
    keys("generate")
    program = f"from authservice.key_file import load; print(len(load({str(file)!r})))"

    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        env={name: value for name, value in os.environ.items() if "DJANGO" not in name},
        capture_output=True,
        text=True,
    )

    assert (process.stdout, process.returncode) == ("1\n", 0), process.stderr
