"""Filters of lists in Django admin: plain comparisons, for which each database has good plans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from django.contrib import admin
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

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


class EmailVerified(Choice):
    title = _("e-mail verified")
    parameter_name = "email_verified"

    def conditions(self) -> dict[str, Q]:
        verified = Q(verified_email_key=F("email_claim")) & ~Q(email_claim="")
        return {"yes": verified, "no": ~verified}


class SessionState(Choice):
    title, parameter_name = _("state"), "state"

    def conditions(self) -> dict[str, Q]:
        now = timezone.now()
        expired = Q(expires_at__lte=now) | Q(idle_expires_at__lte=now)
        ongoing = Q(ended_at=None)
        return {"open": ongoing & ~expired, "ended": ~ongoing, "expired": ongoing & expired}


class OneTimeTokenState(Choice):
    title, parameter_name = _("state"), "state"

    def conditions(self) -> dict[str, Q]:
        expired, unused = Q(expires_at__lte=timezone.now()), Q(spent_at=None)
        return {"open": unused & ~expired, "used": ~unused, "expired": unused & expired}
