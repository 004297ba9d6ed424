"""Texts for people, written in English in the code and translated where they are shown.

An error or a rule is a `phrase`: English in logs, exceptions and the API description, and
`translated` when a response is built. Texts of Django admin are `admin_text`, and texts of the
pages for users are `page_text`: Django translates both whenever it shows them. Each of the three
kinds has a context of its own in the catalogues, so that it neither changes nor takes over
translations of the host project and of Django.

`python -m tests.languages` collects the texts of these functions into the catalogues.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from django.utils.translation import npgettext, pgettext, pgettext_lazy

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
