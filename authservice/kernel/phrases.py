"""Texts for people, written in English in the code and translated where they are shown.

An error or a rule is a `phrase`: English in logs, exceptions and the API description, and
`translated` when a response is built. Texts of Django admin are `admin_text`, which Django
translates whenever it shows them. Both have a context of their own in the catalogues, so that they
neither change nor take over translations of the host project and of Django. So do texts of the
pages for users, `page_text`.

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
        chosen = plural if plural and values and values["count"] != 1 else template
        made = super().__new__(cls, chosen % values if values else chosen)
        made.template, made.plural, made.values = template, plural, values or {}
        return made


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
    found = _found(text)
    if not text.values:
        return found
    values = {
        name: translated(value) if isinstance(value, Phrase) else value
        for name, value in text.values.items()
    }
    try:
        return found % values
    except (KeyError, TypeError, ValueError):
        # The host project may override translations; a typing error there must not end in a 500.
        return text


def _found(text: Phrase) -> str:
    if not text.plural:
        return pgettext(API, text.template)
    count = cast(int, text.values["count"])
    return npgettext(API, text.template, text.plural, count)


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
    """The rule for a text that must be one of these."""
    return phrase("Must be one of %(allowed)s.", allowed=", ".join(allowed))


def admin_text(text: str) -> str:
    """A text of Django admin, translated whenever it is shown. Format it with `%`. It behaves like
    a string; use `str` to store it."""
    return cast(str, pgettext_lazy(ADMIN, text))


def admin_count(singular: str, plural: str, count: int, **values: object) -> str:
    """A text of Django admin about `%(count)d` things, in the active language."""
    return npgettext(ADMIN, singular, plural, count) % {"count": count, **values}


def page_text(text: str) -> str:
    """A text of a page for users, translated whenever it is shown, as that of `admin_text`."""
    return cast(str, pgettext_lazy(PAGES, text))


def page_count(singular: str, plural: str, count: int) -> str:
    """A text of a page about `%(count)d` things, in the active language."""
    return npgettext(PAGES, singular, plural, count) % {"count": count}
