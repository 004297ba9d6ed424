"""Settings: typed, read when used, and complained about in words that help."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import pytest
from django.core.exceptions import ImproperlyConfigured

from authservice.kernel import settings as kernel_settings
from authservice.kernel.sections import api, root


@dataclass(frozen=True, kw_only=True)
class Example:
    flag: bool = False
    number: int = 3
    text: str = "x"
    ttl: timedelta = timedelta(minutes=1)
    names: tuple[str, ...] = ()
    table: dict[str, str] | None = None
    optional: int | None = 0
    way: Literal["fast", "slow"] = "fast"
    anything: Any = None


@pytest.fixture
def example(settings):
    """A section of its own, gone after the test; `example(FLAG=True)` sets its keys."""
    declared = kernel_settings.section("EXAMPLE", Example)

    def given(**keys):
        settings.AUTHSERVICE = {**settings.AUTHSERVICE, "EXAMPLE": keys}
        return declared

    yield given
    del kernel_settings._sections["EXAMPLE"]


def complaints():
    return [(wrong.kind, wrong.key) for wrong in kernel_settings.complaints()]


def hint():
    (wrong,) = kernel_settings.complaints()
    return wrong.hint


def test_what_is_not_given_has_its_default(example):
    section = example()

    assert (section.flag, section.number, section.ttl) == (False, 3, timedelta(minutes=1))


def test_what_is_given_counts(example):
    assert example(FLAG=True, NUMBER=7).number == 7


@pytest.mark.parametrize("given", [None, 0, 2])
def test_optional_number_is_a_number_or_none(example, given):
    assert example(OPTIONAL=given).optional is given


def test_optional_number_is_not_a_text(example):
    example(OPTIONAL="none")

    assert complaints() == [("type", "EXAMPLE.OPTIONAL")]


@pytest.mark.parametrize("given", [90, 90.0, timedelta(seconds=90)])
def test_a_duration_is_a_timedelta_or_seconds(example, given):
    assert example(TTL=given).ttl == timedelta(seconds=90)


def test_a_list_is_a_tuple(example):
    assert example(NAMES=["a", "b"]).names == ("a", "b")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("FLAG", 1, "True or False"),
        ("FLAG", "yes", "True or False"),
        ("FLAG", None, "True or False"),
        ("NUMBER", "3", "a whole number"),
        ("NUMBER", 3.0, "a whole number"),
        ("NUMBER", True, "a whole number"),
        ("TEXT", 3, "a string"),
        ("TEXT", None, "a string"),
        ("TTL", "90", "a timedelta or a number of seconds"),
        ("TTL", True, "a timedelta or a number of seconds"),
        ("TTL", None, "a timedelta or a number of seconds"),
        ("NAMES", "ab", "a list"),
        ("WAY", "quick", "one of 'fast', 'slow'"),
    ],
)
def test_a_value_of_another_type_is_complained_about_by_name_and_rule(example, key, value, words):
    example(**{key: value})

    (wrong,) = kernel_settings.complaints()
    assert (wrong.kind, wrong.key) == ("type", f"EXAMPLE.{key}")
    assert wrong.text == f"AUTHSERVICE['EXAMPLE'][{key!r}] must be {words}, not {value!r}."


@pytest.mark.parametrize("secret", [{"private_key": "-----BEGIN"}, "-----BEGIN" * 9])
def test_a_value_that_may_hold_a_secret_is_not_repeated(example, secret):
    example(NUMBER=secret)

    (wrong,) = kernel_settings.complaints()
    assert "BEGIN" not in wrong.text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, -1e300])
def test_a_duration_that_cannot_be_is_a_complaint_not_a_crash(example, value):
    example(TTL=value)

    assert complaints() == [("type", "EXAMPLE.TTL")]


@pytest.mark.parametrize(
    ("key", "meant"), [("NUMBR", "NUMBER"), ("number", "NUMBER"), ("Flag", "FLAG"), ("TLT", "TTL")]
)
def test_an_unknown_key_is_asked_whether_it_meant_another(example, key, meant):
    example(**{key: 1})

    assert complaints() == [("unknown", f"EXAMPLE.{key}")]
    assert hint() == f"Did you mean {meant!r}?"


def test_a_key_like_no_other_is_told_the_known_ones(example):
    example(ZZZZZ=1)

    assert hint().startswith("Known keys: ANYTHING, FLAG, ")


def test_a_section_with_another_name_is_asked_whether_it_meant_ours(settings):
    settings.AUTHSERVICE = {"STATELES": {}}

    assert hint() == "Did you mean 'STATELESS'?"


def test_a_key_that_is_no_string_is_unknown(settings):
    settings.AUTHSERVICE = {7: 1}

    assert complaints() == [("unknown", "7")]


def test_a_section_that_is_no_dict_is_complained_about(settings):
    settings.AUTHSERVICE = {"API": ["ERROR_DETAILS"]}

    assert complaints() == [("type", "API")]


@pytest.mark.parametrize("value", [None, [], "x", 7])
def test_a_setting_that_is_no_dict_is_complained_about(settings, value):
    settings.AUTHSERVICE = value

    assert ("type", "AUTHSERVICE") in complaints()


def test_without_the_setting_everything_has_its_default(settings):
    del settings.AUTHSERVICE

    assert (list(kernel_settings.complaints()), root.api_url) == ([], "")


def test_reading_a_wrong_setting_fails_loudly(example):
    with pytest.raises(ImproperlyConfigured, match="'NUMBER'"):
        _ = example(NUMBER="3").number


def test_a_change_is_seen_at_once_and_undone_with_it(settings):
    before = api.error_details
    settings.AUTHSERVICE = {"API": {"ERROR_DETAILS": True}}
    during = api.error_details
    settings.AUTHSERVICE = {}

    assert (before, during, api.error_details) == (False, True, False)


def test_caches_of_settings_are_forgotten_with_a_change(settings):
    forgotten = []
    kernel_settings.on_change(lambda: forgotten.append(True))
    try:
        settings.AUTHSERVICE = {}
    finally:
        kernel_settings._caches.pop()

    assert forgotten == [True]


@pytest.fixture
def of_host():
    """How often a cache of what the host says was forgotten."""
    forgotten = []
    kernel_settings.on_host_change(lambda: forgotten.append(True))
    yield forgotten
    kernel_settings._caches_of_host.pop()


def test_caches_of_the_host_outlive_a_change_of_ours(settings, of_host):
    settings.AUTHSERVICE = {}

    assert of_host == []


def test_caches_of_the_host_are_forgotten_with_a_change_of_any_other(settings, of_host):
    settings.AUTH_USER_MODEL = settings.AUTH_USER_MODEL

    assert of_host == [True]


def test_an_unknown_attribute_is_an_attribute_error(example):
    with pytest.raises((AttributeError, KeyError)):
        _ = example().nonsense


def test_every_declared_section_builds_from_its_defaults():
    assert all(schema() is not None for schema in kernel_settings.declared().values())
