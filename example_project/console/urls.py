"""The shop at the root of the site, and in development the pages for developers."""

from django.conf import settings
from django.urls import path

from example_project.console import developer, views

urlpatterns = [
    path("", views.shop, name="console"),
    path("orders", views.orders, name="console-orders"),
    path("orders/new/<slug:slug>", views.order, name="console-order"),
]
if settings.DEVELOPMENT:
    urlpatterns += [
        path("mailbox", views.mails, name="console-mailbox"),
        path("requests", views.requests, name="console-requests"),
        path("requests/new", developer.news, name="console-news"),
    ]
