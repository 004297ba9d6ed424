"""No route writes what its body has no field for, whatever else is sent along.

The names are read from the description of the API and from the models, so a new field is tried
unasked. A request with all the others is compared with the same request without them.
"""

from itertools import count

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from authservice.openapi.document import describe
from tests.client import PASSWORD
from tests.people import has

pytestmark = pytest.mark.django_db

# Differs from one user to the next by itself.
OWN = {"id", "user_id", "password", "email", "username", "email_key", "email_claim"}
OWN |= {
    "device_ids",
    "username_key",
    "username_claim",
    "created_at",
    "updated_at",
    "date_joined",
    "last_login",
}
SPELLINGS = {"pk", "isAdmin", "is_admin", "role", "roles", "groups", "user_permissions", "admin"}
VALUES = [True, False, 7, "7", "true", "2001-01-01T00:00:00Z", None, [1], {"id": 1}]


def described():
    """Every name of a body's field, with the names each route knows."""
    document, bodies = describe(), {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {})
            for media in content.values():
                bodies[method.upper(), path] = set(_properties(document, media["schema"]))
    return bodies


def _properties(document, schema):
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    yield from schema.get("properties", {})
    for part in (p for word in ("allOf", "anyOf", "oneOf") for p in schema.get(word, ())):
        yield from _properties(document, part)


BODIES = described()
COLUMNS = {f.attname for m in (Account, get_user_model()) for f in m._meta.concrete_fields}
NAMES = COLUMNS | SPELLINGS | {name for names in BODIES.values() for name in names}
NAMES |= {f"{name}_verified" for name in ("email", "phone", "phone_number")}

USERS = "/admin/users"


@pytest.fixture
def ways(api, root):
    """For each route what sends a body through it, and the user it leaves behind."""
    numbers = count()

    def email():
        return f"p{next(numbers)}@example.com"

    def signed_up():
        address = email()
        return address, api.sign_up(address)

    def sign_up(**extra):
        address = email()
        body = {**extra, "email": address, "password": PASSWORD}
        return api.request("POST", "signup", body), address

    def profile(**extra):
        address, data = signed_up()
        body = {**extra, "name": "Ann"}
        return api.request("PUT", "profile", body, token=data["access_token"]), address

    def create(**extra):
        address = email()
        return root.ask("POST", "admin/users", {**extra, "email": address}), address

    def change(**extra):
        address, data = signed_up()
        body = {**extra, "name": "Ann"}
        return root.ask("PUT", f"admin/users/{data['user']['id']}", body), address

    return {"/signup": sign_up, "/profile": profile, USERS: create, f"{USERS}/{{user_id}}": change}


ROUTES = [
    ("POST", "/signup"),
    ("PUT", "/profile"),
    ("POST", USERS),
    ("PUT", f"{USERS}/{{user_id}}"),
]


def left_behind(email):
    """Every column of the user and the account."""
    user = get_user_model().objects.get(email=email)
    account = Account.objects.get(user=user)
    rows = (user, account)
    return {
        f"{type(row).__name__}.{field.attname}": getattr(row, field.attname)
        for row in rows
        for field in row._meta.concrete_fields
    }


def changed(before, after):
    """Which columns differ, but for those that are each user's own."""
    return {n for n in before if before[n] != after[n] and n.partition(".")[2] not in OWN}


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_the_description_has_the_route(route):
    assert any(method == route[0] and path.endswith(route[1]) for method, path in BODIES)


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_what_a_body_has_no_field_for_is_not_written(ways, route, value):
    (known,) = (names for (m, p), names in BODIES.items() if m == route[0] and p.endswith(route[1]))
    send = ways[route[1]]
    plain, one = send()
    assert plain.status < 300, plain.body

    answer, other = send(**dict.fromkeys(sorted(NAMES - known), value))

    assert answer.status == plain.status, answer.body
    before, after = left_behind(one), left_behind(other)
    assert changed(before, after) == set()
    moments = ["Account.created_at", *(["User.date_joined"] if has("date_joined") else [])]
    assert all(after.get(name) is None or after[name].year > 2001 for name in moments)


@pytest.mark.parametrize(
    ("field", "columns"),
    {
        "is_super_admin": {"Account.is_super_admin"},
        "email_verified": {"Account.verified_email_key"},
        "avatar": {"Account.avatar"},
        "first_name": {"User.first_name", "Account.first_name"},
        "last_name": {"User.last_name", "Account.last_name"},
        "active": {"User.is_active", "Account.active", "Account.token_version"},
    }.items(),
)
def test_a_field_of_staff_writes_its_own_columns_and_no_other(ways, field, columns):
    value = {"active": False, "avatar": "https://example.com/a.png"}.get(field, True)
    change = ways[f"{USERS}/{{user_id}}"]
    _, one = change()

    answer, other = change(**{field: "Bo" if field.endswith("name") else value})

    assert answer.status == 200
    assert changed(left_behind(one), left_behind(other)) <= columns
