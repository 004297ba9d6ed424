"""The drawer for developers: the newest requests and mails, and how to log in.

Mails contain links that log in, and requests show what users do. So only a browser on this machine
with the key of the mailbox gets them, and only in development.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound, JsonResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_safe

from example_project.console import mailbox, recorder
from example_project.oauth import has_local_provider

# A mail that arrived while the browser loaded the page is announced as well.
_RECENT = timedelta(minutes=1)


def drawer(request: HttpRequest) -> dict[str, Any]:
    """What the templates of the drawer show. `developer` is false if there is no drawer."""
    if not settings.DEVELOPMENT:
        return {"developer": False}
    readable = mailbox.may_read(request)
    return {
        "developer": True,
        "readable": readable,
        "has_mailbox": bool(settings.CONSOLE_MAILBOX),
        "calls": recorder.calls() if readable else [],
        "mails": _mails() if readable else [],
        "local_provider": has_local_provider(),
        "has_sessions": "authservice.session" in settings.INSTALLED_APPS,
    }


@require_safe
def news(request: HttpRequest) -> HttpResponse:
    """The requests after `?call=` and the mails after `?mail=`, as rows of the drawer."""
    if not mailbox.may_read(request):
        return HttpResponseNotFound()
    calls = recorder.calls(request.GET.get("call", ""))
    mails = _mails(request.GET.get("mail", ""))
    response = JsonResponse(
        {
            "calls": render_to_string("console/call_rows.html", {"calls": calls}),
            "mails": render_to_string("console/mail_rows.html", {"mails": mails}),
        }
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def _mails(after: str = "") -> list[dict[str, Any]]:
    since = timezone.now() - _RECENT
    return [{**mail, "is_recent": mail["at"] > since} for mail in mailbox.mails(after)]
