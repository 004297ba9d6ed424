"""When a key becomes active, and when a retired key is removed."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError

from authservice.key_file import load

pytestmark = pytest.mark.django_db


def states(file):
    return [entry["state"] for entry in load(file)]


# Rotate


def test_rotate_without_next_key_is_refused(keys, file):
    keys("generate")

    with pytest.raises(CommandError, match="no next key"):
        keys("rotate")


def test_rotate_to_next_key_younger_than_a_day_is_refused(keys, file, clock):
    keys("generate")
    keys("generate")
    clock.forward(hours=23)

    with pytest.raises(CommandError, match="23 h old"):
        keys("rotate")
    assert states(file) == ["active", "next"]


def test_rotate_with_force_accepts_new_key(keys, file):
    keys("generate")
    keys("generate")

    keys("rotate", "--force")

    assert states(file) == ["retired", "active"]


def test_rotate_removes_private_key_of_retired_key(keys, file):
    keys("generate")
    keys("generate")
    keys("rotate", "--force")

    retired, active = load(file)
    assert "private_key" not in retired
    assert "private_key" in active


def test_rotate_with_generate_creates_missing_next_key_without_rotation(keys, file):
    keys("generate")

    keys("rotate", "--generate")

    assert states(file) == ["active", "next"]


def test_rotate_with_generate_creates_next_key_after_rotation(keys, file, clock):
    keys("generate")
    keys("generate")
    clock.forward(days=1)

    keys("rotate", "--generate")

    assert states(file) == ["retired", "active", "next"]


def test_rotate_with_force_and_generate_replaces_leaked_key_at_once(keys, file):
    keys("generate")

    keys("rotate", "--generate", "--force")

    assert states(file) == ["retired", "active", "next"]


# Retire


@pytest.fixture
def rotated(keys):
    keys("generate")
    keys("generate")
    keys("rotate", "--force")


def test_retire_keeps_key_whose_tokens_may_be_valid(keys, file, clock, rotated):
    clock.forward(days=1, minutes=14, seconds=59)

    assert keys("retire") == "No retired key can be removed yet.\n"
    assert states(file) == ["retired", "active"]


def test_retire_removes_key_whose_tokens_have_expired(keys, file, clock, rotated):
    old = load(file)[0]["kid"]
    clock.forward(days=1, minutes=16)

    assert keys("retire") == f"Removed key {old}.\n"
    assert states(file) == ["active"]


def test_retire_waits_for_longer_token_ttl(keys, file, clock, rotated, configure):
    configure(ACCESS_TOKEN_TTL=timedelta(hours=6))
    clock.forward(days=1, hours=5)

    assert "No retired key" in keys("retire")


def test_retire_with_force_removes_leaked_key_at_once(keys, file, rotated):
    keys("retire", "--force")

    assert states(file) == ["active"]


@pytest.mark.parametrize("moment", [None, "last summer", 7])
def test_retire_refuses_key_without_valid_retired_at(keys, file, moment, rotated):
    entries = load(file)
    entries[0]["retired_at"] = moment
    file.write_text(json.dumps(entries))

    with pytest.raises(CommandError, match="needs a retired_at"):
        keys("retire")
