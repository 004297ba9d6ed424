"""Filters of lists in Django admin: plain comparisons, for which each database has good plans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from django.contrib import admin
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest

from authservice.core.users import flag_conditions
from authservice.kernel import clock
from authservice.kernel.errors import ValidationFailed
from authservice.kernel.phrases import admin_text as _

_LABELS = {
    "yes": _("Yes"),
    "no": _("No"),
    "open": _("Open"),
    "ended": _("Ended"),
    "expired": _("Expired"),
    "used": _("Used"),
}


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
    """A filter by one condition, which is made for a filtered list only: it may read a table."""

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
        return ~flag_conditions.suspended()


class SuperAdmin(YesOrNo):
    title, parameter_name = _("super admin"), "super_admin"

    def condition(self) -> Q:
        return flag_conditions.super_admins()


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
        expired, unused = Q(expires_at__lte=clock.now()), Q(spent_at=None)
        return {"open": unused & ~expired, "used": ~unused, "expired": unused & expired}
