"""The pages of the shop: plain Django, for users whom the pages of authservice sign in."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from example_project.console import developer, mailbox
from example_project.start_up import manage

# The pages load scripts, styles and pictures from their own origin only.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_ORDERS = "shop_orders"


@dataclass(frozen=True)
class Product:
    slug: str
    name: str
    text: str
    price: str


PRODUCTS = {
    product.slug: product
    for product in (
        Product("tart", "Plum tart", "Baked this morning, for four", "€ 18.00"),
        Product("jam", "Plum jam", "With cinnamon, 250 g", "€ 6.50"),
        Product("tea", "Plum tea", "Loose leaves, 80 g", "€ 8.20"),
        Product("tree", "Plum tree", "One metre, in a pot", "€ 34.00"),
        Product("juice", "Plum juice", "Pressed cold, 0.7 l", "€ 5.90"),
        Product("basket", "Fresh plums", "A basket of two kilos", "€ 9.80"),
    )
}


@require_safe
def shop(request: HttpRequest) -> HttpResponse:
    if mailbox.is_key(request.GET.get("mailbox", "")):
        response: HttpResponse = redirect("console")  # the address of the page has no key
        mailbox.let_read(response)
        return response
    return page(request, "shop.html", {"products": PRODUCTS.values(), **_first_steps()})


@require_safe
@login_required
def orders(request: HttpRequest) -> HttpResponse:
    placed = [
        {"product": PRODUCTS[slug], "at": datetime.fromisoformat(at)}
        for slug, at in request.session.get(_ORDERS, ())
    ]
    return page(request, "orders.html", {"orders": placed[::-1]})


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def order(request: HttpRequest, slug: str) -> HttpResponse:
    product = PRODUCTS.get(slug)
    if product is None:
        raise Http404
    if request.method != "POST":
        return page(request, "order.html", {"product": product})
    # A shop has a table for them. These are as temporary as the session that they are in.
    placed = (slug, timezone.now().isoformat())
    request.session[_ORDERS] = [*request.session.get(_ORDERS, ()), placed]
    messages.success(request, f"Thank you. Your {product.name.lower()} is on its way.")
    return redirect("console-orders")


@require_safe
def mails(request: HttpRequest) -> HttpResponse:
    return _for_developers(request, "mailbox.html")


@require_safe
def requests(request: HttpRequest) -> HttpResponse:
    return _for_developers(request, "requests.html")


def _for_developers(request: HttpRequest, template: str) -> HttpResponse:
    return page(request, template, {}, status=200 if mailbox.may_read(request) else 404)


def page(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """A page of the shop, with its header and, in development, the drawer."""
    shown = {
        "account": _address("page-account"),
        "log_in": _address("page-login"),
        "sign_up": _address("page-signup"),
        "log_out": _address("page-logout"),
        "person": _person(request),
        "manage": manage(),
        "documentation": _address("docs"),
        **developer.drawer(request),
        **context,
    }
    response = render(request, f"console/{template}", shown, status=status)
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "strict-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _first_steps() -> dict[str, Any]:
    """The first steps of the front page, which depend on the modules that are installed."""
    users: Any = get_user_model()
    return {
        "security": _address("page-account-security"),
        "has_factor": "authservice.twofactor" in settings.INSTALLED_APPS,
        "has_administrator": users.objects.filter(is_superuser=True, is_active=True).exists(),
    }


def _person(request: HttpRequest) -> dict[str, Any] | None:
    """The user who is signed in: names, initials for the picture, and whether the address is
    confirmed."""
    user: Any = request.user
    if not user.is_authenticated:
        return None
    # None for a user whom Django made in another way and who has never signed in.
    account = getattr(user, "authservice_account", None)
    given = account.name if account else user.get_full_name()
    name = given or user.email or user.get_username()
    return {
        "name": name,
        "first_name": given.partition(" ")[0],
        "email": user.email,
        "initials": "".join(part[:1] for part in name.split()[:2]).upper(),
        "is_confirmed": bool(account and account.verified_email_key),
    }


def _address(name: str) -> str:
    """The address of a page of authservice, "" if its module is not installed."""
    try:
        return reverse(f"authservice:{name}")
    except NoReverseMatch:
        return ""
