"""Django admin in German: nothing of this package is in English there."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import label_for_field
from django.test import RequestFactory
from django.urls import reverse
from django.utils import translation

from tests.languages import catalogues

pytestmark = pytest.mark.django_db

PAGES = [
    page
    for page in admin.site._registry.values()
    if page.model.__module__.startswith("authservice.")
]


@pytest.fixture
def labels(root):
    request = RequestFactory().get("/")
    request.user = root.user

    def of(page):
        """Every name that the pages of a model show."""
        meta = page.model._meta
        names = set(page.get_list_display(request))
        if page.list_display_links is not None and page.has_view_permission(request):
            names |= set(_flat(page.get_fields(request)))  # the rows have a page of their own
        yield from (meta.verbose_name, meta.verbose_name_plural, meta.app_config.verbose_name)
        yield from (label_for_field(name, page.model, page) for name in sorted(names))
        # The actions that every page has are Django's.
        for action in page.get_actions(request).values():
            # Django 6.1 deprecates the tuple of the earlier versions.
            is_tuple = isinstance(action, tuple)
            function = action[0] if is_tuple else action.func
            if function.__module__.startswith("authservice."):
                yield action[2] if is_tuple else action.description
        for filter_ in page.get_list_filter(request):
            if isinstance(filter_, type):
                yield filter_.title

    return of


def _flat(fields):
    for name in fields:
        yield from name if isinstance(name, tuple | list) else (name,)


def test_every_name_in_admin_is_translated(labels):
    assert len(PAGES) >= 6
    for page in PAGES:
        with translation.override("en"):
            english = [str(text) for text in labels(page)]
        with translation.override("de"):
            german = [str(text) for text in labels(page)]

        same = {text for text, other in zip(english, german, strict=True) if text == other}
        assert same - _same_in_german() == set(), page


def _same_in_german():
    """What the German catalogues mark as the same, such as "Name"."""
    found = set()
    for app in catalogues.wanted("de"):
        for entry in catalogues.read(catalogues.path_of(app, "de"), "de"):
            if catalogues._SAME in entry.flags:
                found.add(entry.id)
    return found


def test_index_and_lists_are_in_german(settings, root):
    settings.LANGUAGE_CODE = "de"

    index = root.see(reverse("admin:index"))
    accounts = root.see(reverse("admin:authservice_core_account_changelist"))

    assert "Konten und Sitzungen" in index
    assert "Links und Codes" in index
    assert "Entsperren: Fehlversuche zurücksetzen" in accounts
    assert "E-Mail bestätigt" in accounts


def test_message_of_an_action_is_in_german(settings, root):
    settings.LANGUAGE_CODE = "de"

    account = apps.get_model("authservice_core", "Account").objects.get(user=root.user)
    answer = root.act("account", "end_sessions", account)

    assert "Beendete Sitzungen: 0. Konten: 1." in answer.content.decode()
