"""The keys by which identifiers are compared."""

import re
import sys

import idna
import pytest
from hypothesis import given
from hypothesis import strategies as st

from authservice.core.users import identifiers

SAME_EMAIL = [
    ("ann@example.com", "ANN@EXAMPLE.COM"),
    ("ann@example.com", "  ann@example.com\n"),
    ("am\u00e9lie@example.com", "ame\u0301lie@example.com"),
    ("\uff41nn@example.com", "ann@example.com"),
    ("ann@b\u00fccher.example", "ann@xn--bcher-kva.example"),
    ("ann@B\u00dcCHER.example", "ann@xn--bcher-kva.example"),
    ("ann@\uff45xample.com", "ann@example.com"),
    ("ann@example\u3002com", "ann@example.com"),
    ("ann@example.com\u3002", "ann@example.com"),
    ("ann@example.com\u3002\u00ad", "ann@example.com"),
    ("\u212aate@example.com", "kate@example.com"),
    ("o\ufb03ce@example.com", "office@example.com"),
    ("\u0390@example.com", "\u1fd3@example.com"),
]
OTHER_EMAIL = [
    ("ann@example.com", "ann@example.org"),
    ("ann.b@example.com", "annb@example.com"),
    ("ann@example.com", "anne@example.com"),
    ("\u0131vy@example.com", "ivy@example.com"),
    ("a@b@example.com", "a@b.example.com"),
    ("\u0430nn@example.com", "ann@example.com"),
    ("ann@fa\u00df.example", "ann@fass.example"),
]


@pytest.mark.parametrize(("one", "other"), SAME_EMAIL)
def test_equivalent_addresses_have_one_key(one, other):
    assert identifiers.email_key(one) == identifiers.email_key(other)


@pytest.mark.parametrize(("one", "other"), OTHER_EMAIL)
def test_different_addresses_have_different_keys(one, other):
    assert identifiers.email_key(one) != identifiers.email_key(other)


def test_folded_address_is_stable_when_folded_again():
    for one, _ in SAME_EMAIL:
        folded = identifiers._folded(one)

        assert identifiers._folded(folded) == folded


@pytest.mark.parametrize(
    "text", ["", "@", "a@", "@b", "a", "a@.", "a@..b", "a@" + "x" * 300, "a@xn--\u00fc", "a@\ud800"]
)
def test_text_that_is_no_address_has_a_key_or_raises_encode_error(text):
    try:
        key = identifiers.email_key(text)
    except UnicodeEncodeError:
        assert "\ud800" in text
    else:
        assert re.fullmatch(r"[0-9a-f]{64}", key)


@pytest.mark.parametrize(
    ("one", "other"), [("ann", "ANN"), ("stra\u00dfe", "STRASSE"), ("\uff41nn", "ann")]
)
def test_equivalent_usernames_have_one_key(one, other):
    assert identifiers.username_key(one) == identifiers.username_key(other)


def test_address_username_and_number_have_different_keys():
    text = "+4930123456"
    keys = {
        identifiers.email_key(text),
        identifiers.username_key(text),
        identifiers.phone_key(text),
    }

    assert len(keys) == 3


@pytest.mark.parametrize(
    "text", ["a@b.de", "a+b@example.com", "a@b\u00fccher.example", "a" * 64 + "@b.de"]
)
def test_deliverable_address_is_an_email(text):
    assert identifiers.is_email(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a@",
        "@b.de",
        "a b@c.de",
        "a@b",
        "a@b..de",
        "a@-b.de",
        "a@b.de\n",
        "<a@b.de>",
        "a@b.de, c@d.de",
        "a" * 250 + "@b.de",
    ],
)
def test_other_text_is_no_email(text):
    assert not identifiers.is_email(text)


@pytest.mark.parametrize("text", ["abc", "A.b_c-9", "a" * 30])
def test_three_to_thirty_allowed_characters_are_a_username(text):
    assert identifiers.is_username(text)


@pytest.mark.parametrize("text", ["ab", "a" * 31, "abc\n", "a c", "\u00e4bc", "a@b"])
def test_other_text_is_no_username(text):
    assert not identifiers.is_username(text)


@pytest.mark.parametrize("text", ["+4930123456", "+12025550143"])
def test_possible_number_in_e164_form_is_a_phone_number(text):
    assert identifiers.is_phone(text)


@pytest.mark.parametrize(
    "text", ["4930123456", "+0301234567", "+4930123456\n", "+49 30123456", "+\u0664930123456", "+1"]
)
def test_other_text_is_no_phone_number(text):
    assert not identifiers.is_phone(text)


@pytest.mark.parametrize(
    "text", ["+49030123456", "+4407911123456", "+112025550143", "+788005553535"]
)
def test_number_with_a_dialled_prefix_is_refused_as_a_second_spelling(text):
    assert not identifiers.is_phone(text)


def test_phone_number_without_the_phone_library_is_checked_by_form_only(monkeypatch):
    monkeypatch.setitem(sys.modules, "phonenumbers", None)

    assert identifiers.is_phone("+99912345678")
    assert not identifiers.is_phone("+0301234567")


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), max_size=40))
def test_ascii_domain_has_the_form_of_the_idna_rules(domain):
    try:
        expected = idna.encode(domain, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        expected = domain.lower()

    assert identifiers._ascii_domain(domain) == expected
