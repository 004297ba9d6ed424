"""The language of a response: the one that the client asked for, if all texts exist in it.

If the project has activated a language for the request (`LocaleMiddleware` or a middleware of its
own), that language is kept. Otherwise a project that sets `LANGUAGES` gets the best match of the
cookie of Django's `set_language` view and of `Accept-Language`, and any other project
`LANGUAGE_CODE`.

A response is in one language, although its texts may come from this service, from Django (rules of
passwords) and from the project. So a language that our catalogues do not have is replaced by
`LANGUAGE_CODE` or, without a catalogue for that either, by English. A project adds a language by a
catalogue in `LOCALE_PATHS` that translates `MARKER`.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import lru_cache
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

from authservice.kernel.phrases import API
from authservice.kernel.settings import cached_for_host, on_host_change

# The code of the language of a catalogue: "de" in the German one. Without a catalogue for a
# language, Django falls back to another one, and the code shows which.
MARKER = "en"
ENGLISH = "en"
_CONSIDERED = 10  # languages of a header; no browser sends more
_LONGEST = 300  # characters of a header
_REQUESTED = "_authservice_language"
_UNCHANGED = nullcontext()


def chosen(request: HttpRequest) -> Any:
    """A context manager in which the language of the client is active."""
    if not _negotiates():
        return _UNCHANGED
    active = translation.get_language()
    # `LocaleMiddleware` sets the attribute. A middleware of the project that only activates a
    # language leaves another one than the default.
    if hasattr(request, "LANGUAGE_CODE") or active != settings.LANGUAGE_CODE:
        return _UNCHANGED
    cookie = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    header = request.META.get("HTTP_ACCEPT_LANGUAGE", "")
    if not (cookie or header):
        return _UNCHANGED
    language = _match(cookie[:_LONGEST], header[:_LONGEST])
    if language in ("", active):
        return _UNCHANGED
    request.__dict__[_REQUESTED] = language
    return translation.override(_available(language))


def of_texts() -> Any:
    """A context manager for texts of Django and of the project: a language that we do not have is
    replaced. Code in its block must not build URLs: those of `i18n_patterns` contain the language.
    """
    active = translation.get_language() or ENGLISH
    language = _available(active)
    return _UNCHANGED if language == active else translation.override(language)


def requested(request: HttpRequest) -> str:
    """The language of the client, which mails may have although responses do not."""
    return str(request.__dict__.get(_REQUESTED) or translation.get_language() or "")


def label(response: HttpResponse, *, page: bool = False) -> None:
    """Name the language of a response that has texts, and the header that it depends on. A page may
    be in any language, since the project may have templates of its own."""
    active = translation.get_language() or ENGLISH
    response.headers["Content-Language"] = active if page else _available(active)
    if _negotiates():
        patch_vary_headers(response, ["Accept-Language"])


@cached_for_host
def _negotiates() -> bool:
    """Whether the project sets `LANGUAGES`: Django's default is every language that Django has."""
    return settings.USE_I18N and cast(Any, settings).is_overridden("LANGUAGES")


@lru_cache(maxsize=256)
def _match(cookie: str, header: str) -> str:
    """The best match in `LANGUAGES`, or "". A text of the client is never returned itself."""
    accepted = [code for code, _ in parse_accept_lang_header(header)][:_CONSIDERED]
    for code in (cookie, *accepted):
        if code == "*":
            break
        try:
            return translation.get_supported_language_variant(code)
        except LookupError:
            continue
    return ""


@cached_for_host
def _available(language: str) -> str:
    """The language itself if its texts exist, otherwise `LANGUAGE_CODE` or English."""
    if not settings.USE_I18N:
        return ENGLISH
    for code in (language, settings.LANGUAGE_CODE):
        with translation.override(code):
            catalogue = translation.pgettext(API, MARKER)
        if code == catalogue or code.startswith(f"{catalogue}-"):
            return code
    return ENGLISH


on_host_change(_match.cache_clear)
