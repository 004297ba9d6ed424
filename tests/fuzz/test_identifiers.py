"""Identifiers with generated texts: an accepted one has one spelling and one key."""

import phonenumbers
from hypothesis import assume, example, given
from hypothesis import strategies as st

from authservice.core.users import identifiers
from tests.fuzz.generated import TEXTS, bounded, tried

DIGITS = st.text("0123456789", min_size=1, max_size=14)
COUNTRIES = st.sampled_from(sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)).map(str)
EXAMPLES = [
    phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    for region in sorted(phonenumbers.SUPPORTED_REGIONS)
    if (number := phonenumbers.example_number(region))
]
# With digits that a user would dial after the country code, such as a trunk prefix.
SPELLINGS = st.builds(
    lambda number, place, more: number[:place] + more + number[place:],
    st.sampled_from(EXAMPLES),
    st.integers(0, 5),
    st.sampled_from(["", "0", "1", "8", "00", " ", "-", "(0)", "\u0660", "\n", "+", "15"]),
)
LABELS = (
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
    | st.sampled_from(["xn--bcher-kva", "XN--BCHER-KVA", "xn--", "b\u00fccher", "fa\u00df"])
    | st.text("abcxyz-09\u00fc\u00df\u0130\u03c2\u200d\u3002", min_size=1, max_size=70)
)
DOMAINS = st.lists(LABELS, min_size=1, max_size=4).map(".".join)
LOCALS = st.text("abcXYZ+_-", min_size=1, max_size=70) | st.text('aB."\\ @\u00e9', max_size=9)
ENDS = st.sampled_from([".example", ".com", ".\u4e2d\u56fd", ".b\u00fccher.example", ""])
ADDRESSES = st.builds("{}@{}{}".format, LOCALS | TEXTS, DOMAINS | TEXTS, ENDS)


@given(SPELLINGS | st.builds("+{}{}".format, COUNTRIES, DIGITS) | TEXTS)
@tried(60)
def test_accepted_phone_number_is_the_one_spelling_of_its_number(text):
    with bounded():
        accepted = identifiers.is_phone(text)
    assume(accepted)

    number = phonenumbers.parse(text)

    assert phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) == text


@given(st.sampled_from(EXAMPLES))
@tried(60)
def test_example_number_of_each_country_is_accepted(number):
    assert identifiers.is_phone(number)


@given(ADDRESSES)
@example("ann@xn--bcher-kva.example")
@tried(60)
def test_accepted_address_is_delivered_to_an_ascii_address_with_the_same_key(text):
    with bounded():
        accepted = identifiers.is_new_email(text)
    assume(accepted)

    delivered = identifiers.deliverable(text)

    assert delivered.isascii()
    assert identifiers.deliverable(delivered) == delivered
    assert identifiers.email_key(delivered) == identifiers.email_key(text)


@given(TEXTS, DOMAINS | TEXTS)
@tried(60)
def test_folding_a_text_or_a_domain_twice_changes_nothing_more(text, domain):
    folded, ascii_domain = identifiers._folded(text), identifiers._ascii_domain(domain)

    assert identifiers._folded(folded) == folded
    assert identifiers._ascii_domain(ascii_domain) == ascii_domain
