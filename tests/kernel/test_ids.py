"""Identifiers are UUIDs of version 7 as defined in RFC 9562 section 5.7."""

import time
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from authservice.kernel import clock
from authservice.kernel.clock import least_uuid7, uuid7, uuid7_of

MANY = 2000


def test_uuid7_has_version_and_variant_of_the_rfc():
    made = [uuid7() for _ in range(MANY)]

    assert {one.version for one in made} == {7}
    assert {one.variant for one in made} == {uuid.RFC_4122}


def test_uuid7_begins_with_48_bits_of_milliseconds_since_the_epoch():
    before = time.time_ns() // 1_000_000
    made = uuid7()
    after = time.time_ns() // 1_000_000

    assert before <= made.int >> 80 <= after


def test_uuid7_layout_matches_the_example_of_the_rfc(monkeypatch):
    # RFC 9562 appendix A.6
    moment = datetime.fromtimestamp(0x017F22E279B0 / 1000, UTC)
    monkeypatch.setattr(clock, "_read", lambda: clock.Reading(moment, 0.0))
    monkeypatch.setattr("secrets.randbits", lambda _: 0xCC3 << 62 | 0x18C4DC0C0C07398F)

    assert str(uuid7()) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


def test_uuid7_values_sort_by_the_millisecond_of_creation(clock):
    made = []
    for _ in range(50):
        made.append(uuid7())
        clock.forward(milliseconds=1)

    assert made == sorted(made)


def test_uuid7_values_are_unique():
    assert len({uuid7() for _ in range(MANY)}) == MANY


def test_uuid7_random_bits_all_vary():
    made = [uuid7().int for _ in range(MANY)]
    fixed = 0xF << 76 | 0b11 << 62
    random = ((1 << 80) - 1) & ~fixed
    ones, zeros = 0, 0
    for one in made:
        ones |= one
        zeros |= ~one

    assert ones & random == random
    assert zeros & random == random


def test_uuid7_of_a_time_contains_its_microsecond():
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    moments = [noon + timedelta(microseconds=n) for n in range(2500)]

    made = [uuid7_of(moment) for moment in moments]

    assert made == sorted(made)
    assert len({one.int >> 64 for one in made}) == len(moments)
    assert {one.version for one in made} == {7}
    assert {one.variant for one in made} == {uuid.RFC_4122}
    assert made[1500].int >> 80 == (noon.timestamp() * 1000) + 1


def test_uuid7_values_of_one_microsecond_differ():
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)

    assert len({uuid7_of(noon) for _ in range(MANY)}) == MANY


def test_least_uuid7_of_a_time_separates_earlier_from_later_values():
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    before = [uuid7_of(noon - timedelta(microseconds=1)) for _ in range(MANY)]
    since = [uuid7_of(noon) for _ in range(MANY)]

    assert max(before) < least_uuid7(noon) <= min(since)


@pytest.mark.parametrize("moment", [datetime.min, datetime.max])
def test_least_uuid7_of_an_extreme_time_is_valid(moment):
    assert least_uuid7(moment.replace(tzinfo=UTC)).version == 7
