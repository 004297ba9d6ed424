"""The table of levels, and the record of a session."""

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from authservice.kernel import levels
from authservice.kernel.levels import ORDER, Record

NOW = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
OF_LEVEL = {
    "aal1": ("pwd",),
    "aal2": ("pwd", "otp", "mfa"),
    "phr": ("pop", "user", "mfa"),
    "phrh": ("hwk", "user", "mfa"),
}


@pytest.mark.parametrize(
    ("proofs", "level"),
    [
        (("pwd",), "aal1"),
        (("otp",), "aal1"),
        (("pop",), "aal1"),
        (("oauth",), "aal1"),
        (("pwd", "otp", "mfa"), "aal2"),
        (("pwd", "pop", "mfa"), "aal2"),
        (("pwd", "hwk", "mfa"), "aal2"),
        (("pop", "user", "mfa"), "phr"),
        (("pwd", "pop", "user", "mfa"), "phr"),
        (("hwk", "user", "mfa"), "phrh"),
        (("legacy",), None),
        ((), None),
    ],
)
def test_level_of_proofs(proofs, level):
    assert levels.of(proofs) == level


@pytest.mark.parametrize("order", list(permutations(ORDER)), ids=",".join)
def test_proof_changes_the_moment_of_its_own_level_only(order):
    record = Record()
    for number, level in enumerate(order):
        record = record.with_event(OF_LEVEL[level], NOW + number * MINUTE)

    moments = {event.level: event.at for event in record}
    assert moments == {level: NOW + order.index(level) * MINUTE for level in ORDER}
    assert record.strongest.level == "phrh"
    assert record.strongest.proofs == OF_LEVEL["phrh"]


@pytest.mark.parametrize("proven", ORDER)
@pytest.mark.parametrize("needed", ORDER)
def test_level_includes_those_below_it(proven, needed):
    record = Record().with_event(OF_LEVEL[proven], NOW)

    enough = ORDER.index(proven) >= ORDER.index(needed)
    assert record.proves(needed, now=NOW) == enough
    assert record.proves(needed, now=NOW + MINUTE, within=MINUTE) == enough
    assert not record.proves(needed, now=NOW + MINUTE + timedelta.resolution, within=MINUTE)


def test_weak_proof_makes_no_older_strong_one_new():
    record = Record().with_event(OF_LEVEL["aal2"], NOW).with_event(("pwd",), NOW + 10 * MINUTE)

    later = NOW + 10 * MINUTE
    assert record.proves("aal1", now=later, within=MINUTE)
    assert not record.proves("aal2", now=later, within=MINUTE)
    assert record.strongest.at == NOW


def test_removed_factor_takes_its_events_and_leaves_the_first_factor():
    record = Record.of_login(OF_LEVEL["aal2"], NOW)

    left = record.without("otp")
    assert [(event.level, event.proofs) for event in left] == [("aal1", ("pwd",))]
    assert list(record.without("pop")) == list(record)


def test_longest_record_fits_its_column():
    longest = ("magiclink", "hwk", "pop", "otp", "user", "mfa")
    record = Record()
    for level in ORDER:
        record = record.with_event(OF_LEVEL[level], NOW)
    text = record.text + "," + ",".join(longest)

    assert len(text) <= Record.LENGTH
    assert list(Record(record.text)) == list(record)
