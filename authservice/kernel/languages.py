"""Texts for people, written in English in the code and translated where they are shown, and the
language of a response: the one that the client asked for, if all texts exist in it.

If the project has activated a language for the request (`LocaleMiddleware` or a middleware of its
own), that language is kept. Otherwise a project that sets `LANGUAGES` gets the best match of the
cookie of Django's `set_language` view and of `Accept-Language`, and any other project
`LANGUAGE_CODE`.

A response is in one language, although its texts may come from this service, from Django (rules of
passwords) and from the project. So a language that our catalogues do not have is replaced by
`LANGUAGE_CODE` or, without a catalogue for that either, by English. A project adds a language by a
catalogue in `LOCALE_PATHS` that translates `MARKER`.

An error or a rule is a `phrase`: English in logs, exceptions and the API description, and
`translated` when a response is built. Texts of Django admin are `admin_text`, and texts of the
pages for users are `page_text`: Django translates both whenever it shows them. Each of the three
kinds has a context of its own in the catalogues, so that it neither changes nor takes over
translations of the host project and of Django.

`python -m tests.languages` collects the texts of these functions into the catalogues.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import npgettext, pgettext, pgettext_lazy
from django.utils.translation.trans_real import parse_accept_lang_header

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


API = "authservice"
ADMIN = "authservice admin"
PAGES = "authservice pages"


class Phrase(str):
    """An English text that knows what it was made of: the template, which the catalogues contain,
    and the values of its placeholders, of which those that are phrases are translated too."""

    template: str
    plural: str
    """The template for a `count` other than one; "" for a phrase that counts nothing."""
    values: dict[str, object]

    def __new__(
        cls, template: str, values: dict[str, object] | None = None, plural: str = ""
    ) -> Phrase:
        form = plural if plural and values and values["count"] != 1 else template
        text = super().__new__(cls, form % values if values else form)
        text.template, text.plural, text.values = template, plural, values or {}
        return text


def phrase(template: str, **values: object) -> Phrase:
    """A text of the API. Placeholders are `%(name)s`; with values, a percent sign is `%%`."""
    return Phrase(template, values)


def phrase_count(singular: str, plural: str, count: int, **values: object) -> Phrase:
    """A text of the API about `%(count)d` things."""
    return Phrase(singular, {"count": count, **values}, plural)


def translated(text: object) -> str:
    """The text in the active language. A text that is no phrase, such as one of the host project,
    is looked up as it is."""
    if not isinstance(text, Phrase):
        return pgettext(API, str(text))
    if text.plural:
        count = cast(int, text.values["count"])
        template = npgettext(API, text.template, text.plural, count)
    else:
        template = pgettext(API, text.template)
    if not text.values:
        return template
    values = {
        name: translated(value) if isinstance(value, Phrase) else value
        for name, value in text.values.items()
    }
    try:
        return template % values
    except (KeyError, TypeError, ValueError):
        # The host project may override translations; a typing error there must not end in a 500.
        return text


def joined(texts: Iterable[str]) -> Phrase:
    """The texts one after the other, each translated on its own."""
    parts = [text if isinstance(text, Phrase) else Phrase(str(text)) for text in texts]
    if len(parts) == 1:
        return parts[0]
    numbered: dict[str, object] = {f"text{number}": part for number, part in enumerate(parts)}
    return Phrase(" ".join(f"%({name})s" for name in numbered), numbered)


def of_field(field: str, rules: Iterable[str]) -> Phrase:
    """The rules that the value of a field breaks, after its name."""
    return phrase("%(field)s: %(rule)s", field=field, rule=joined(rules))


def one_of(allowed: Iterable[str]) -> Phrase:
    """The rule for a text that must be one of the `allowed` texts."""
    return phrase("Must be one of %(allowed)s.", allowed=", ".join(allowed))


def admin_text(text: str) -> str:
    """A text of Django admin, translated whenever it is shown. Format it with `%`. It behaves like
    a string; use `str` to store it."""
    return cast(str, pgettext_lazy(ADMIN, text))


def admin_count(singular: str, plural: str, count: int, **values: object) -> str:
    """A text of Django admin about `%(count)d` things, in the active language."""
    return npgettext(ADMIN, singular, plural, count) % {"count": count, **values}


def page_text(text: str) -> str:
    """A text of a page for users, translated whenever it is shown, like an `admin_text`."""
    return cast(str, pgettext_lazy(PAGES, text))


def page_count(singular: str, plural: str, count: int) -> str:
    """A text of a page about `%(count)d` things, in the active language."""
    return npgettext(PAGES, singular, plural, count) % {"count": count}
