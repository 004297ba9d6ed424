"""The lists of our pages in Django admin: `DeclaredLookups`, the base class of the pages, decides
which query parameters filter and search a list; `ask_to_confirm` is the page before an action; and
the other classes are filters.

Filters are plain comparisons, for which each database has good plans.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import django
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.contrib.admin.options import IncorrectLookupParameters
from django.db import DataError
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.text import smart_split, unescape_string_literal

from authservice.core.models import Account
from authservice.core.users import search
from authservice.kernel import clock, databases
from authservice.kernel.errors import ValidationFailed
from authservice.kernel.languages import admin_text as _
from authservice.kernel.sql import planned_for_values

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = object

# Django 6.1 expects breadcrumbs as a list, earlier versions as one line.
BREADCRUMBS_ARE_A_LIST = django.VERSION >= (6, 1)
# Search our own copies, since the fields of the host's user model are unknown here.
USER_SEARCH = ("user__authservice_account__email", "user__authservice_account__username")
_ACCOUNT = "__authservice_account__"
_PART_OF_ADDRESS = re.compile(r"[0-9a-f:.]+", re.IGNORECASE)

# The lookups that Django's list filters use. Some other lookups are slower (`__regex`), and some
# raise errors for values of another form (`__range`, `__year`).
_LOOKUPS = ("", "__exact", "__gte", "__lt", "__isnull")
_CONFIRMED = "confirmed"
_SHOWN = 20  # rows that the page before an action names
_LABELS = {
    "yes": _("Yes"),
    "no": _("No"),
    "open": _("Open"),
    "ended": _("Ended"),
    "expired": _("Expired"),
    "used": _("Used"),
}


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
        filters: Any = self.get_list_filter(request)  # type: ignore[arg-type]
        declared = {*self.get_search_fields(request)}  # type: ignore[arg-type]
        for entry in filters:
            if isinstance(entry, type) and issubclass(entry, admin.SimpleListFilter):
                declared.add(str(entry.parameter_name))
            else:
                declared.add(entry[0] if isinstance(entry, tuple | list) else entry)
        return lookup in self.exact_lookups or any(
            lookup == f"{name}{suffix}" for name in declared for suffix in _LOOKUPS
        )

    def changelist_view(self, request: HttpRequest, *args: Any, **more: Any) -> Any:
        with planned_for_values(databases.primary()):
            return super().changelist_view(request, *args, **more)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        try:
            return super().get_changelist_instance(request)
        except (DataError, OverflowError) as error:
            # PostgreSQL has no NUL characters, SQLite no numbers beyond 64 bits, and Python no time
            # before the year 1 in UTC. Django handles other wrong values itself.
            raise IncorrectLookupParameters from error
        except ValidationFailed as refusal:  # a filter refuses its value
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
        for word in smart_split(search_term):
            # As Django splits a search, a text in quotes is one word.
            quoted = word[0] in "\"'" and word[0] == word[-1]
            text = unescape_string_literal(word) if quoted else word
            queryset = queryset.filter(self._having(text, fields))
        return queryset, False

    def _having(self, word: str, fields: Sequence[Any]) -> Q:
        """The condition that the word is part of a field of the account or of the row. It is a
        UNION of keys: with OR, PostgreSQL may search the accounts again for each row."""
        accounts = Account.objects.filter(search.containing(word, databases.primary()))
        path = next(name.partition(_ACCOUNT)[0] for name in fields if _ACCOUNT in name)
        account_matches = Q((f"{path}__in", accounts.values("pk")))
        own_fields = [name for name in fields if _ACCOUNT not in name]
        if not _PART_OF_ADDRESS.fullmatch(word):
            # A search for an IP address reads all rows, so it is left out for other texts.
            own_fields = [name for name in own_fields if name != "ip_address"]
        if not own_fields:
            return account_matches
        own_matches = Q(*((f"{name}__icontains", word) for name in own_fields), _connector=Q.OR)
        return Q(pk__in=self._keys(account_matches).union(self._keys(own_matches), all=True))

    def _keys(self, condition: Q) -> QuerySet[Any, Any]:
        rows: QuerySet[Any] = self.model._default_manager.filter(condition)
        return rows.order_by().values("pk")


def ask_to_confirm(
    page: Any, request: HttpRequest, rows: Any, question: str
) -> TemplateResponse | None:
    """The page to return before an action, or None if the action was confirmed. The form on the
    page sends the same action for the same rows, so Django checks the permissions again."""
    if request.POST.get(_CONFIRMED):
        return None
    selected = request.POST.getlist(helpers.ACTION_CHECKBOX_NAME)
    context = {
        **page.admin_site.each_context(request),
        "title": _("Are you sure?"),
        "opts": page.opts,
        "is_list": BREADCRUMBS_ARE_A_LIST,
        "question": question,
        "shown": [str(row) for row in rows[:_SHOWN]],
        "more": max(rows.count() - _SHOWN, 0),
        "action": request.POST.get("action", ""),
        "checkbox": helpers.ACTION_CHECKBOX_NAME,
        "selected": selected,
        "across": request.POST.get("select_across", "0"),
    }
    return TemplateResponse(request, "authservice/core/admin-confirm-action.html", context)


class Choice(ABC, admin.SimpleListFilter):
    """A filter whose choices are conditions."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, _LABELS[name]) for name in self.conditions()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(self.conditions().get(self.value() or "", Q()))

    @abstractmethod
    def conditions(self) -> dict[str, Q]:
        """The condition of each choice."""


class YesOrNo(Choice):
    """A filter by one condition. The condition is built only if the filter is used: building it may
    read a table."""

    def conditions(self) -> dict[str, Q]:
        return {"yes": Q(), "no": Q()}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in self.conditions():
            return queryset
        condition = self.condition()
        return queryset.filter(condition if self.value() == "yes" else ~condition)

    def get_facet_queryset(self, changelist: Any) -> dict[str, int]:
        try:
            counts: dict[str, int] = super().get_facet_queryset(changelist)
        except ValidationFailed:
            return {}  # too many users: Django shows a dash instead of each number
        return counts

    @abstractmethod
    def condition(self) -> Q:
        """The condition of "yes"."""


class Active(YesOrNo):
    """For a user model that has no such column."""

    title, parameter_name = _("active"), "active"

    def condition(self) -> Q:
        return ~search.suspended()


class SuperAdmin(YesOrNo):
    title, parameter_name = _("super admin"), "super_admin"

    def condition(self) -> Q:
        return search.super_admins()


class EmailVerified(Choice):
    title = _("e-mail verified")
    parameter_name = "email_verified"

    def conditions(self) -> dict[str, Q]:
        verified = Q(verified_email_key=F("email_claim")) & ~Q(email_claim="")
        return {"yes": verified, "no": ~verified}


class SessionState(Choice):
    title, parameter_name = _("state"), "state"

    def conditions(self) -> dict[str, Q]:
        now = clock.now()
        expired = Q(expires_at__lte=now) | Q(idle_expires_at__lte=now)
        ongoing = Q(ended_at=None)
        return {"open": ongoing & ~expired, "ended": ~ongoing, "expired": ongoing & expired}


class OneTimeTokenState(Choice):
    title, parameter_name = _("state"), "state"

    def conditions(self) -> dict[str, Q]:
        expired = Q(expires_at__lte=clock.now())
        unused = Q(spent_at=None)
        return {"open": unused & ~expired, "used": ~unused, "expired": unused & expired}
