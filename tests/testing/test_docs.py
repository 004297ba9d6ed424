"""The tests that the page shows pass."""

import pytest
from django.http import JsonResponse
from django.urls import include, path

from authservice.decorators import login_required
from tests.support.documented import Page

pytestmark = pytest.mark.django_db


@login_required
def orders(request):
    return JsonResponse({"data": []})


urlpatterns = [path("auth/", include("authservice.urls")), path("orders", orders)]


@pytest.fixture
def shown():
    (code,) = Page("testing").code("python")
    names = {}
    exec(code, names)
    return names


def test_documented_test_of_the_client_passes(shown):
    shown["test_an_invoice_is_the_signed_in_users"](None)


def test_documented_test_of_a_view_passes(shown, client, settings):
    settings.ROOT_URLCONF = __name__

    shown["test_orders_are_for_the_signed_in_user"](None, client)


def test_documented_test_of_a_mail_passes(shown, django_capture_on_commit_callbacks):
    shown["test_a_mailed_link_sets_a_new_password"](None, django_capture_on_commit_callbacks)
