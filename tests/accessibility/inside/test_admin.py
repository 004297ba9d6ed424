"""The pages of this package in Django admin: lists, rows, the support page and confirmations."""

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from authservice.core.staff import support_actions
from tests.admin.inside.conftest import page, staff
from tests.staff_support.inside.conftest import (
    ann,  # noqa: F401
    api,  # noqa: F401
    button,
    post,  # noqa: F401
    support_page,
)
from tests.staff_support.inside.test_page import organizations
from tests.support.axe import violations
from tests.support.browser import needs_chromium
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), needs_chromium]

# Violations of Django's own markup and style sheets, by rule.
OF_DJANGO = {
    # Links inside of text, distinguished by their colour alone.
    "link-in-text-block": ".breadcrumbs a",
    # Filters and links in lists, which are lines of text.
    "target-size": "#changelist-filter a, #result_list a, .calendarbox a, .datetimeshortcuts a",
    # The search field of a list with a help text has an icon as its label.
    "label-title-only": "#searchbar",
    # Inlines: the columns of the row's name and of its link.
    "empty-table-header": ".tabular thead th",
    # The form of a user: date and time have one label for two fields, and icons are no images.
    "label": ".vDateField, .vTimeField",
    "aria-prohibited-attr": ".help-tooltip",
}


@pytest.fixture
def look(browser, found, live_server, api, ann):  # noqa: F811
    """`look(path, schemes)` lists the violations of a page of Django admin, for a superuser."""
    Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()
    organizations(2)
    api.post("login", email="nobody@example.com", password="wrong")
    visitor = Client()
    visitor.force_login(staff("root@example.com", superuser=True))
    browser.get(live_server.url + "/auth/nowhere")
    browser.add_cookie({"name": "sessionid", "value": visitor.cookies["sessionid"].value})

    def look(path, schemes=("light", "dark")):
        if not permitted(visitor, path):
            return []
        return found(live_server.url + path, schemes=schemes, known=OF_DJANGO)

    return look


def permitted(visitor, path):
    """Nobody sees the lists of some models."""
    status = visitor.get(path).status_code
    assert status in (200, 403), path
    return status == 200


def own_pages():
    """The paths of the list and of one row, of each model of ours. Other pages are Django's."""
    for model in admin.site._registry:
        meta = model._meta
        if not meta.app_label.startswith("authservice"):
            continue
        name = f"admin:{meta.app_label}_{meta.model_name}"
        yield reverse(f"{name}_changelist")
        for row in model.objects.all()[:1]:
            yield page(row)


def test_lists_and_rows_have_no_violation(look):
    # They have Django's colours.
    wrong = {path: look(path, ["light"]) for path in own_pages()}

    assert {path: one for path, one in wrong.items() if one} == {}


def test_support_page_and_its_confirmations(look):
    confirmations = [button(one.name) for one in support_actions.buttons()]
    user = page(the_user())
    wrong = {path: look(path, ["light"]) for path in (user, *confirmations)}
    wrong[support_page()] = look(support_page())

    assert {path: one for path, one in wrong.items() if one} == {}


def test_confirmation_of_an_action_on_a_list(look, browser):
    path = reverse("admin:authservice_core_account_changelist")
    assert look(path, ["light"]) == []
    browser.find_element(By.CSS_SELECTOR, "[name=_selected_action]").click()
    Select(browser.find_element(By.NAME, "action")).select_by_value("end_sessions")
    browser.find_element(By.CSS_SELECTOR, ".actions [type=submit]").click()

    WebDriverWait(browser, 10).until(lambda _: browser.find_elements(By.NAME, "confirmed"))
    assert violations(browser, known=OF_DJANGO) == []


def test_login(found, live_server, browser):
    browser.delete_all_cookies()
    assert found(live_server.url + reverse("admin:login")) == []
