"""Settings with generated values: a value of the type, or a complaint that says what is wrong."""

from datetime import datetime, timedelta
from typing import get_type_hints

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import example, given
from hypothesis import strategies as st

from authservice.core.tokens import signing
from authservice.kernel import settings
from tests.fuzz.generated import JSON, NUMBERS, TEXTS, bounded, tried

VALUES = (
    NUMBERS | JSON | st.timedeltas() | st.datetimes() | st.binary(max_size=9) | st.tuples(TEXTS)
)
SECTIONS = sorted(settings.declared())
KEYS = TEXTS | st.text("AB.Z_/0", max_size=8) | st.sampled_from(["ACCESS_TOKEN_TTL", "MAGICLINK"])


@given(value=VALUES, section=st.sampled_from(SECTIONS))
@example(value=1e308, section="")
@tried(60)
def test_any_value_is_of_the_declared_type_or_refused(value, section):
    for wanted in get_type_hints(settings.declared()[section]).values():
        try:
            with bounded():
                found = settings.convert(value, wanted)
        except TypeError:
            continue
        if wanted in (bool, int, str, timedelta, datetime):
            assert type(found) is wanted


@given(given_keys=st.dictionaries(KEYS, VALUES, max_size=4) | VALUES)
@tried(60)
def test_any_settings_are_described_by_complaints(settings_dict, given_keys):
    settings_dict(given_keys)

    for complaint in settings.complaints():
        assert complaint.text


@pytest.fixture
def settings_dict(settings):
    def change(given_keys):
        settings.AUTHSERVICE = given_keys

    return change


ENTRIES = JSON | st.dictionaries(
    st.sampled_from(["alg", "state", "kid", "private_key", "public_key"]),
    st.sampled_from(["ES256", "RS256", "active", "next", "retired", "-----BEGIN"]) | JSON,
    max_size=5,
)


@given(entries=st.lists(ENTRIES, max_size=3))
@tried(60)
def test_any_signing_keys_without_a_key_are_refused(entries):
    with bounded(), pytest.raises(ImproperlyConfigured):
        signing.parsed(entries)
