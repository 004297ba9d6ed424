"""No error is partly in English: every error class, and the refusals of every route."""

import re
from functools import cache

import pytest
from django.apps import apps
from django.test import Client
from django.utils import translation

from authservice.kernel import errors
from authservice.kernel.http.envelope import refusal
from authservice.kernel.languages import API
from tests.languages import catalogues
from tests.support.routes import routes

# Other tests import modules that this host has not installed, so their catalogues are not read.
OURS = [
    fault
    for fault in errors.catalogue()
    if fault.__module__.startswith("authservice.")
    and (
        fault.__module__.startswith("authservice.kernel.")
        or apps.get_containing_app_config(fault.__module__)
    )
]
_WORD = re.compile(r"[a-zA-Z]{2,}")
_FIELD = re.compile(r"^[a-z]+(?:_[a-z]+)+: ")  # such as `request_token: `


def words(text):
    return {word.lower() for word in _WORD.findall(_FIELD.sub("", text))}


@cache
def english_words(language):
    """Words of the English texts that no translation has; names of fields are in neither."""
    english, translated = set(), set()
    for app in catalogues.wanted(language):
        catalogue = catalogues.read(catalogues.path_of(app, language), language)
        for entry in catalogue:
            if entry.id and entry.context == API:
                english |= words(re.sub(r"%\(\w+\)[sd]", "", str(entry.id)))
                translated |= words(str(entry.string))
    return english - translated - FIELDS


# Names in requests, which stay as they are.
FIELDS = {"email", "username", "phone", "password", "token", "code", "name", "role", "user", "new"}


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
@pytest.mark.parametrize("fault", OURS, ids=lambda fault: f"{fault.status} {fault.__name__}")
def test_error_has_no_english_word(fault, language):
    with translation.override(language):
        shown = refusal(fault())

    text = shown.content.decode().split('"message":"')[1]
    assert words(text.split('"')[0]) & english_words(language) == set()
    assert shown.headers["Content-Language"] == language


@pytest.mark.django_db
@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"email": 7, "token": "x", "code": "1"}'])
def test_refusals_of_every_route_have_no_english_word(settings, configure, body):
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch")]
    configure(THROTTLE={"ENABLED": False})
    english = english_words("de")
    client = Client(headers={"accept-language": "de"}, raise_request_exception=False)
    refused = 0
    for route in routes():
        path = f"/auth/{route.path.lstrip('/')}"
        answer = client.generic(route.method, path, body, "application/json")
        if answer.headers.get("Content-Type") != "application/json" or answer.status_code < 400:
            continue
        refused += 1
        message = answer.json()["message"]
        assert words(message) & english == set(), f"{route}: {message}"
        assert answer.headers["Content-Language"] == "de"

    assert refused > 30


def test_texts_of_the_catalogue_have_english_words():
    assert {"credentials", "required", "must"} <= english_words("de")
