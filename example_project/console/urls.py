"""The console at the root of the site, and the mailbox if the settings have one."""

from django.conf import settings
from django.urls import path

from example_project.console import views
from example_project.console.front_end import PAGES

urlpatterns = [
    path(address, views.page, {"view": view}, name="console" if not address else None)
    for address, view in PAGES.items()
]
if settings.CONSOLE_MAILBOX:
    urlpatterns.append(path("mailbox", views.mails, name="console-mailbox"))
