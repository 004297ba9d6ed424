"""Identifiers: UUID version 7 as RFC 9562 section 5.7 lays it out."""

import time
import uuid

from authservice.kernel.ids import uuid7

MANY = 2000


def test_version_and_variant_are_those_of_the_rfc():
    made = [uuid7() for _ in range(MANY)]

    assert {one.version for one in made} == {7}
    assert {one.variant for one in made} == {uuid.RFC_4122}


def test_the_first_48_bits_are_milliseconds_since_the_epoch():
    before = time.time_ns() // 1_000_000
    made = uuid7()
    after = time.time_ns() // 1_000_000

    assert before <= made.int >> 80 <= after


def test_the_layout_is_that_of_the_rfcs_example(monkeypatch):
    # RFC 9562 appendix A.6
    monkeypatch.setattr(time, "time_ns", lambda: 0x017F22E279B0 * 1_000_000)
    monkeypatch.setattr("secrets.randbits", lambda _: 0xCC3 << 62 | 0x18C4DC0C0C07398F)

    assert str(uuid7()) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


def test_they_sort_by_the_millisecond_of_their_birth(clock):
    made = []
    for _ in range(50):
        made.append(uuid7())
        clock.forward(milliseconds=1)

    assert made == sorted(made)


def test_none_is_like_another():
    assert len({uuid7() for _ in range(MANY)}) == MANY


def test_every_random_bit_varies():
    made = [uuid7().int for _ in range(MANY)]
    fixed = 0xF << 76 | 0b11 << 62
    random = ((1 << 80) - 1) & ~fixed
    ones, zeros = 0, 0
    for one in made:
        ones |= one
        zeros |= ~one

    assert ones & random == random
    assert zeros & random == random
