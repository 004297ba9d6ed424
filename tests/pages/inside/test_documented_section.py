"""The section of docs/pages.rst that an app of the project adds to the account."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Session
from tests.support.documented import Page
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db


@pytest.fixture
def orders(monkeypatch):
    """What a model of the shop adds to users. Any rows will do."""
    orders = property(lambda user: Session.objects.filter(user=user))
    monkeypatch.setattr(get_user_model(), "orders", orders, raising=False)


@pytest.fixture(params=["shop", "shop.apps.ShopConfig"])
def shop(request, tmp_path, orders):
    with Page("pages").app("shop", tmp_path), mounted(request.param):
        yield


def test_documented_section_is_a_page_of_the_account(shop, signed_in):
    assert "/auth/account/orders" in signed_in.open("/auth/account/profile").links

    page = signed_in.open("/auth/account/orders")

    assert page.heading == "Orders"
    for order in Session.objects.all():
        assert f"Order {order.pk}" in page.text
        assert f"/orders/{order.pk}" in page.links
