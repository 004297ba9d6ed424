"""Settings are typed and read when used; errors name the key and the rule."""

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
    """Declares a section for one test; `example(FLAG=True)` sets its keys."""
    declared = kernel_settings.section("EXAMPLE", Example)

    def given(**keys):
        settings.AUTHSERVICE = {**settings.AUTHSERVICE, "EXAMPLE": keys}
        return declared

    yield given
    del kernel_settings._sections["EXAMPLE"]


def errors():
    return [(wrong.kind, wrong.key) for wrong in kernel_settings.complaints()]


def hint():
    (wrong,) = kernel_settings.complaints()
    return wrong.hint


def test_setting_that_is_not_given_has_its_default(example):
    section = example()

    assert (section.flag, section.number, section.ttl) == (False, 3, timedelta(minutes=1))


def test_setting_that_is_given_replaces_the_default(example):
    assert example(FLAG=True, NUMBER=7).number == 7


@pytest.mark.parametrize("given", [None, 0, 2])
def test_optional_number_setting_accepts_a_number_or_none(example, given):
    assert example(OPTIONAL=given).optional is given


def test_optional_number_setting_refuses_a_string(example):
    example(OPTIONAL="none")

    assert errors() == [("type", "EXAMPLE.OPTIONAL")]


@pytest.mark.parametrize("given", [90, 90.0, timedelta(seconds=90)])
def test_duration_setting_accepts_a_timedelta_or_seconds(example, given):
    assert example(TTL=given).ttl == timedelta(seconds=90)


def test_list_setting_is_read_as_a_tuple(example):
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
def test_setting_of_a_wrong_type_is_reported_with_name_and_rule(example, key, value, words):
    example(**{key: value})

    (wrong,) = kernel_settings.complaints()
    assert (wrong.kind, wrong.key) == ("type", f"EXAMPLE.{key}")
    assert wrong.text == f"AUTHSERVICE['EXAMPLE'][{key!r}] must be {words}, not {value!r}."


@pytest.mark.parametrize("secret", [{"private_key": "-----BEGIN"}, "-----BEGIN" * 9])
def test_setting_that_may_contain_a_secret_is_not_repeated_in_the_error(example, secret):
    example(NUMBER=secret)

    (wrong,) = kernel_settings.complaints()
    assert "BEGIN" not in wrong.text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, -1e300])
def test_duration_setting_out_of_range_is_reported_without_a_crash(example, value):
    example(TTL=value)

    assert errors() == [("type", "EXAMPLE.TTL")]


@pytest.mark.parametrize(
    ("key", "meant"), [("NUMBR", "NUMBER"), ("number", "NUMBER"), ("Flag", "FLAG"), ("TLT", "TTL")]
)
def test_unknown_setting_gets_the_closest_key_as_hint(example, key, meant):
    example(**{key: 1})

    assert errors() == [("unknown", f"EXAMPLE.{key}")]
    assert hint() == f"Did you mean {meant!r}?"


def test_unknown_setting_without_a_close_key_gets_the_known_keys_as_hint(example):
    example(ZZZZZ=1)

    assert hint().startswith("Known keys: ANYTHING, FLAG, ")


def test_key_of_another_section_gets_its_place_as_hint(example, settings):
    example(ACCESS_TOKEN_TTL=1)
    assert hint() == "Did you mean AUTHSERVICE['ACCESS_TOKEN_TTL']?"

    example()
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "NUMBER": 7}
    assert hint() == "Did you mean AUTHSERVICE['EXAMPLE']['NUMBER']?"


def test_unknown_section_gets_the_closest_section_as_hint(settings):
    settings.AUTHSERVICE = {"STATELES": {}}

    assert hint() == "Did you mean 'STATELESS'?"


def test_section_of_a_module_that_is_not_installed_is_reported_with_its_module(
    settings, monkeypatch
):
    monkeypatch.delitem(kernel_settings._sections, "STATELESS")
    settings.AUTHSERVICE = {"STATELESS": {}}

    [complaint] = kernel_settings.complaints()

    assert complaint.text.endswith(
        "belongs to authservice.stateless, which is not in INSTALLED_APPS."
    )
    assert complaint.hint.endswith("or add 'authservice.stateless' to INSTALLED_APPS.")


def test_setting_with_a_key_that_is_no_string_is_unknown(settings):
    settings.AUTHSERVICE = {7: 1}

    assert errors() == [("unknown", "7")]


def test_section_that_is_no_dict_is_reported(settings):
    settings.AUTHSERVICE = {"API": ["ERROR_DETAILS"]}

    assert errors() == [("type", "API")]


@pytest.mark.parametrize("value", [None, [], "x", 7])
def test_authservice_setting_that_is_no_dict_is_reported(settings, value):
    settings.AUTHSERVICE = value

    assert errors() == [("type", "AUTHSERVICE")]


def test_settings_without_authservice_have_their_defaults(settings):
    del settings.AUTHSERVICE

    assert (list(kernel_settings.complaints()), root.api_url) == ([], "")


def test_reading_an_invalid_setting_raises_improperly_configured(example):
    with pytest.raises(ImproperlyConfigured, match="'NUMBER'"):
        _ = example(NUMBER="3").number


def test_changed_setting_takes_effect_at_once_and_is_undone(settings):
    before = api.error_details
    settings.AUTHSERVICE = {"API": {"ERROR_DETAILS": True}}
    during = api.error_details
    settings.AUTHSERVICE = {}

    assert (before, during, api.error_details) == (False, True, False)


def test_settings_caches_are_cleared_by_a_change(settings):
    cleared = []
    kernel_settings.on_change(lambda: cleared.append(True))
    try:
        settings.AUTHSERVICE = {}
    finally:
        kernel_settings._caches.pop()

    assert cleared == [True]


@pytest.fixture
def of_host():
    """Records each time that a cache of the host's settings is cleared."""
    cleared = []
    kernel_settings.on_host_change(lambda: cleared.append(True))
    yield cleared
    kernel_settings._caches_of_host.pop()


def test_host_caches_are_kept_by_a_change_of_authservice(settings, of_host):
    settings.AUTHSERVICE = {}

    assert of_host == []


def test_host_caches_are_cleared_by_a_change_of_another_setting(settings, of_host):
    settings.AUTH_USER_MODEL = settings.AUTH_USER_MODEL

    assert of_host == [True]


def test_cached_result_is_computed_again_after_a_change_of_a_setting(settings):
    computed = []
    result = kernel_settings.cached(lambda: computed.append(True))
    try:
        result()
        result()
        settings.AUTHSERVICE = {}
        result()
    finally:
        kernel_settings._caches.pop()

    assert computed == [True, True]


def test_cached_result_of_the_host_is_computed_again_after_a_change_of_the_host(settings):
    computed = []
    result = kernel_settings.cached_for_host(lambda: computed.append(True))
    try:
        result()
        settings.AUTHSERVICE = {}
        result()
        settings.AUTH_USER_MODEL = settings.AUTH_USER_MODEL
        result()
    finally:
        kernel_settings._caches_of_host.pop()

    assert computed == [True, True]


@pytest.mark.parametrize("chosen", ["ours", "datetime.timedelta"])
def test_pluggable_setting_is_a_built_in_name_or_a_dotted_path(chosen):
    assert kernel_settings.pluggable(chosen, {"ours": "datetime.timedelta"}) is timedelta


def test_unknown_attribute_of_a_section_raises_attribute_error(example):
    with pytest.raises((AttributeError, KeyError)):
        _ = example().nonsense


def test_declared_sections_are_valid_with_their_defaults():
    assert all(schema() is not None for schema in kernel_settings.declared().values())
