"""The base class of our pages in Django admin: what their lists filter and search by, what they
answer to values that no row can have, and how they ask to confirm an action."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.contrib.admin.options import IncorrectLookupParameters
from django.db import DataError
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.text import smart_split, unescape_string_literal

from authservice.core.models import Account
from authservice.core.users import search
from authservice.kernel import databases
from authservice.kernel.errors import ValidationFailed
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.sql import planned_for_values

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = object

# Search our own copies, since the fields of the host's user model are unknown here.
USER_SEARCH = ("user__authservice_account__email", "user__authservice_account__username")
_ACCOUNT = "__authservice_account__"
_PART_OF_ADDRESS = re.compile(r"[0-9a-f:.]+", re.IGNORECASE)

# The lookups that Django's list filters use. Of others, some cost more (`__regex`), and some raise
# errors for a value of another form (`__range`, `__year`).
_LOOKUPS = ("", "__exact", "__gte", "__lt", "__isnull")
_CONFIRMED = "confirmed"
_SHOWN = 20  # rows that the page names


class DeclaredLookups(Page):
    """Only declared filters and search fields are query parameters of a list. Searches by user find
    the accounts first. Values that no row can have are no error.

    Django allows every field of the model, such as `?seed__startswith=`: an oracle for values that
    no page shows.
    """

    # Further lookups, such as "user__exact" in links from the page of a user: exact ones only.
    exact_lookups: tuple[str, ...] = ()

    def lookup_allowed(
        self, lookup: str, value: Any = None, request: HttpRequest | None = None
    ) -> bool:
        declared = {*_names(self.get_list_filter(request)), *self.get_search_fields(request)}  # type: ignore[arg-type]
        return lookup in self.exact_lookups or any(
            lookup == f"{name}{suffix}" for name in declared for suffix in _LOOKUPS
        )

    def changelist_view(self, request: HttpRequest, *args: Any, **more: Any) -> Any:
        with planned_for_values(databases.primary()):
            return super().changelist_view(request, *args, **more)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        try:
            return super().get_changelist_instance(request)
        except (DataError, OverflowError) as wrong:
            # PostgreSQL has no NUL characters, SQLite no numbers beyond 64 bits, and Python no time
            # before the year 1 in UTC. Django handles other wrong values itself.
            raise IncorrectLookupParameters from wrong
        except ValidationFailed as refusal:  # of a filter
            self.message_user(request, refusal.text, messages.ERROR, fail_silently=True)
            raise IncorrectLookupParameters from refusal

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        if "\0" in object_id:
            return None
        try:
            return super().get_object(request, object_id, from_field)
        except OverflowError:
            return None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Accounts are found first, and then the rows of their users. Django would join all rows
        with all accounts, which takes seconds in a large table."""
        fields = self.get_search_fields(request)
        if not any(_ACCOUNT in name for name in fields):
            return super().get_search_results(request, queryset, search_term)
        for word in _words(search_term):
            queryset = queryset.filter(self._having(word, fields))
        return queryset, False

    def _having(self, word: str, fields: Sequence[Any]) -> Q:
        """The condition that a word is part of a field. It is a UNION of keys: with OR, PostgreSQL
        may search the accounts again for each row."""
        accounts = Account.objects.filter(search.containing(word, databases.primary()))
        path = next(name.partition(_ACCOUNT)[0] for name in fields if _ACCOUNT in name)
        owned = Q((f"{path}__in", accounts.values("pk")))
        own = [name for name in fields if _ACCOUNT not in name and _may_have(name, word)]
        if not own:
            return owned
        texts = Q(*((f"{name}__icontains", word) for name in own), _connector=Q.OR)
        return Q(pk__in=self._keys(owned).union(self._keys(texts), all=True))

    def _keys(self, condition: Q) -> QuerySet[Any, Any]:
        rows: QuerySet[Any] = self.model._default_manager.filter(condition)
        return rows.order_by().values("pk")


def _may_have(name: str, word: str) -> bool:
    # A search for an IP address reads all rows, so it is left out for other texts.
    return name != "ip_address" or _PART_OF_ADDRESS.fullmatch(word) is not None


def _names(filters: Any) -> Iterator[str]:
    for entry in filters:
        if isinstance(entry, type) and issubclass(entry, admin.SimpleListFilter):
            yield str(entry.parameter_name)
        else:
            yield entry[0] if isinstance(entry, tuple | list) else entry


def _words(text: str) -> Iterator[str]:
    """The words of a search as Django splits it: a text in quotes is one word."""
    for word in smart_split(text):
        quoted = word[0] in "\"'" and word[0] == word[-1]
        yield unescape_string_literal(word) if quoted else word


def ask_to_confirm(
    page: Any, request: HttpRequest, rows: Any, question: str
) -> TemplateResponse | None:
    """The page to return before the action, or None if it was confirmed. The form sends the same
    action for the same rows, so Django checks the permissions again."""
    if request.POST.get(_CONFIRMED):
        return None
    selected = request.POST.getlist(helpers.ACTION_CHECKBOX_NAME)
    context = {
        **page.admin_site.each_context(request),
        "title": _("Are you sure?"),
        "opts": page.opts,
        "question": question,
        "shown": [str(row) for row in rows[:_SHOWN]],
        "more": max(rows.count() - _SHOWN, 0),
        "action": request.POST.get("action", ""),
        "checkbox": helpers.ACTION_CHECKBOX_NAME,
        "selected": selected,
        "across": request.POST.get("select_across", "0"),
    }
    return TemplateResponse(request, "authservice/core/admin-confirm-action.html", context)
