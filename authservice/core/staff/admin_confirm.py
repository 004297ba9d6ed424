"""The confirmation page of an action on a list in Django admin, as Django has one for deletions."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import helpers
from django.http import HttpRequest
from django.template.response import TemplateResponse

from authservice.kernel.phrases import admin_text as _

_CONFIRMED = "confirmed"
_SHOWN = 20  # rows that the page names


def ask(page: Any, request: HttpRequest, rows: Any, question: str) -> TemplateResponse | None:
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
