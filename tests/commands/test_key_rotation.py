"""When a key becomes the active one, and when one goes for good."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError

from authservice.key_file import load

pytestmark = pytest.mark.django_db


def states(file):
    return [entry["state"] for entry in load(file)]


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

    assert keys("retire") == "No retired key can be removed yet.\n"
    assert states(file) == ["retired", "active"]


def test_a_key_whose_tokens_have_expired_goes(keys, file, clock, rotated):
    old = load(file)[0]["kid"]
    clock.forward(days=1, minutes=16)

    assert keys("retire") == f"Removed key {old}.\n"
    assert states(file) == ["active"]


def test_a_longer_life_of_tokens_is_waited_for(keys, file, clock, rotated, configure):
    configure(ACCESS_TOKEN_TTL=timedelta(hours=6))
    clock.forward(days=1, hours=5)

    assert "No retired key" in keys("retire")


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

    with pytest.raises(CommandError, match="needs a retired_at"):
        keys("retire")
