"""Forms of other sites, of other browsers and without a token change nothing."""

from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.urls import reverse

from authservice.core.models import Session
from tests.pages.inside import every_form
from tests.pages.inside.every_form import FORMS, WITHOUT_FORM
from tests.pages.inside.person import ACCEPT, FORM
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db

TOKEN = "csrfmiddlewaretoken"
FORGED = {
    "no token": ({TOKEN: None, "other": "x"}, {}),
    "empty token": ({TOKEN: ""}, {}),
    "made-up token": ({TOKEN: "x" * 64}, {}),
    "other site": ({}, {"Origin": "https://evil.example"}),
    "hidden origin": ({}, {"Origin": "null"}),
    "other site by form": ({TOKEN: None, "other": "x"}, {"Origin": "https://evil.example"}),
    "other site without origin": ({TOKEN: None, "other": "x"}, {"Sec-Fetch-Site": "cross-site"}),
}


STALE = "This form was open for too long"
# A form that was the answer to another one is not shown again to another site.
NOT_SHOWN = ("page-magic-code", "page-second-factor")
# Written by migrations.
_STATIC = ("auth.Permission", "contenttypes.ContentType")


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Without the csrf module, which could refuse a form too."""
    with mounted():
        yield


@pytest.fixture
def scene(person, api, post, ann, configure):
    return every_form.begin(person, api, post, ann, configure)


def stored():
    """All rows of the database."""
    return {
        model._meta.label: list(model._base_manager.order_by("pk").values_list())
        for model in apps.get_models()
        if model._meta.managed and model._meta.label not in _STATIC
    }


def changed(before):
    """The tables that differ from `before`."""
    return [name for name, rows in stored().items() if rows != before[name]]


def assert_headers_of_a_sign_in(page):
    headers = page.response.headers
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store, private"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert len(page.html.encode()) < 40_000
    assert page.html.count("<script") == policy.count("script-src") == 1


def test_every_page_is_in_one_of_the_lists():
    assert every_form.route_names() == {*FORMS, *WITHOUT_FORM}


@pytest.mark.parametrize("route", FORMS)
def test_form_acts_with_its_token_alone(route, scene, post):
    person, filled = scene.person, FORMS[route](scene)
    assert_headers_of_a_sign_in(filled.page)
    name, jobs, before = person.name, len(post.jobs), stored()

    for how, (typed, headers) in FORGED.items():
        sent = {**filled.typed, **typed}
        answer = person.post(filled.page, filled.form, headers=headers, **sent)
        is_led_away = route in NOT_SHOWN and answer.status == 303
        assert answer.alert.startswith(STALE) or is_led_away, how
    assert (changed(before), len(post.jobs), person.name) == ([], jobs, name)

    answer = person.post(filled.page, filled.form, **filled.typed)
    assert (answer.alert, answer.errors) == ("", {}), answer.text
    assert changed(before)


@pytest.mark.parametrize("route", WITHOUT_FORM)
def test_page_without_a_form_does_nothing_with_one(route, scene, settings):
    settings.DEBUG = True
    scene.own("profile")
    before = stored()

    for _, headers in FORGED.values():
        sent = scene.person.client.post(
            reverse(f"authservice:{route}"),
            urlencode({"name": "Mallory", "password": PASSWORD}),
            content_type=FORM,
            headers={"Accept": ACCEPT, **headers},
        )

        assert sent.status_code in (200, 303)
    assert changed(before) == []


def test_form_of_another_tab_works_after_a_login(person, ann):
    """A login renews the CSRF token, so the form of the other tab is not acted upon."""
    first, second = person.open("/auth/login"), person.open("/auth/login")
    person.send(first, identifier=ANN, password=PASSWORD)

    page = person.send(second, identifier=ANN, password=PASSWORD)

    assert (page.heading, person.name) == ("Profile", "ann")
    assert Session.objects.filter(method="password").count() == 1


def test_form_after_cookies_were_deleted_keeps_what_was_typed(person, ann):
    page = person.open("/auth/login")
    person.client.cookies.clear()

    page = person.send(page, identifier=ANN, password=PASSWORD)

    assert page.alert.startswith("This form was open for too long")
    assert f'value="{ANN}"' in page.html
    assert person.send(page, password=PASSWORD).heading == "Profile"
