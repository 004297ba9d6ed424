"""The query parameters of a list cannot filter by a field that its page does not declare."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from authservice.core.models import Account, Session
from tests.admin.inside.conftest import Browser, staff
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

REFUSED = {
    "authservice_core_session": (
        *("seed__startswith", "password_fingerprint__startswith", "counter__gte", "seed"),
        *("user__password__startswith", "user__authservice_account__verified_email_key__gte"),
    ),
    "authservice_core_onetimetoken": (
        "digest__startswith",
        "code_digest__gte",
        "payload__icontains",
    ),
    "authservice_core_account": (
        *("email_key__startswith", "phone_key__gte", "verified_phone_key", "token_version"),
        *("user__password__startswith", "user__authservice_sign_ins__seed__startswith"),
    ),
    "authservice_core_attemptcounter": ("key__startswith",),
    "authservice_oauth_linkedaccount": (
        *("sealed_tokens__startswith", "subject_key__startswith", "user__password__startswith"),
    ),
    "authservice_twofactor_authenticator": (
        *("sealed_secret__startswith", "last_step__gte", "backup_codes__digest__startswith"),
        "user__password__startswith",
    ),
}
CASES = [
    (model, lookup)
    for model, lookups in REFUSED.items()
    for lookup in lookups
    if apps.is_installed(f"authservice.{model.split('_')[1]}")
]


@pytest.mark.parametrize(("model", "lookup"), CASES)
@pytest.mark.parametrize("value", ["5", "zz"])
def test_list_refuses_filter_by_undeclared_field(root, ann, model, lookup, value):
    root.see(reverse(f"admin:{model}_changelist"), status=400, **{lookup: value})


@pytest.mark.parametrize(
    "lookup",
    [
        *("email__regex", "username__iregex", "name__range", "email__startswith"),
        *("created_at__year", "created_at__year__gte", "is_super_admin", "email_verified__x"),
    ],
)
def test_list_refuses_lookup_that_no_filter_uses(root, ann, lookup):
    root.see(reverse("admin:authservice_core_account_changelist"), status=400, **{lookup: "("})


def test_staff_with_view_permission_cannot_filter_by_a_seed(ann):
    browser = Browser(staff("helper@example.com", "view_session"))
    seed, page = Session.objects.get().seed, reverse("admin:authservice_core_session_changelist")

    for digit in "0123456789abcdef":
        browser.see(page, status=400, seed__startswith=digit)
    assert seed


def test_declared_filters_work(root, ann):
    account = Account.objects.get(user=the_user())
    year = account.created_at.year

    for query in (
        {"created_at__gte": f"{year}-01-01 00:00Z", "created_at__lt": f"{year + 1}-01-01 00:00Z"},
        {"super_admin": "no", "email_verified": "no"},
        {"user__is_active__exact": "1", "q": "ann"},
    ):
        root.see(reverse("admin:authservice_core_account_changelist"), **query)


def test_every_page_of_authservice_refuses_undeclared_lookups(rf, root):
    ours = [
        page
        for model, page in admin.site._registry.items()
        if model.__module__[:12] == "authservice."
    ]
    request = rf.get("/")
    request.user = root.user

    assert len(ours) >= 5
    for page in ours:
        for field in page.model._meta.get_fields():
            declared = page.lookup_allowed(field.name, "x", request)
            named = {*page.get_search_fields(request), *page.get_list_filter(request)}
            assert declared is (field.name in named), (page, field)
