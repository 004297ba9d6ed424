"""Routes ignore unknown fields of a body (mass assignment).

The names are those of all fields in the API description and of all columns of the models, so new
ones are included. A request with the names that its route does not know is compared with the same
request without them.
"""

from itertools import count

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from authservice.openapi.document import describe
from tests.support.client import PASSWORD
from tests.support.people import has

pytestmark = pytest.mark.django_db

# Columns that differ between any two users.
UNIQUE_OR_AUTOMATIC = {"id", "user_id", "password", "email", "username", "email_key", "email_claim"}
UNIQUE_OR_AUTOMATIC |= {
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
    """The field names of the body of each route, by method and path."""
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
def requests(api, root):
    """For each route, a function that sends a body and returns the response and the address."""
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


def stored(email):
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
    """The columns that differ, except those that differ between any two users."""
    return {
        n
        for n in before
        if before[n] != after[n] and n.partition(".")[2] not in UNIQUE_OR_AUTOMATIC
    }


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_api_description_contains_the_route(route):
    assert any(method == route[0] and path.endswith(route[1]) for method, path in BODIES)


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_unknown_fields_of_a_body_write_no_column(requests, route, value):
    (known,) = (names for (m, p), names in BODIES.items() if m == route[0] and p.endswith(route[1]))
    send = requests[route[1]]
    expected, reference = send()
    assert expected.status < 300, expected.body

    answer, created = send(**dict.fromkeys(sorted(NAMES - known), value))

    assert answer.status == expected.status, answer.body
    before, after = stored(reference), stored(created)
    assert changed(before, after) == set()
    times = ["Account.created_at", *(["User.date_joined"] if has("date_joined") else [])]
    assert all(after.get(name) is None or after[name].year > 2001 for name in times)


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
def test_field_for_staff_writes_its_own_columns_only(requests, field, columns):
    value = {"active": False, "avatar": "https://example.com/a.png"}.get(field, True)
    change = requests[f"{USERS}/{{user_id}}"]
    _, reference = change()

    answer, created = change(**{field: "Bo" if field.endswith("name") else value})

    assert answer.status == 200
    assert changed(stored(reference), stored(created)) <= columns
