"""Requests to the routes of modules, and the audit entries that they write."""

from __future__ import annotations

from django.contrib.auth import get_user_model

from tests.admin_api.people import PHONE
from tests.audit.world import ANN, case, silent
from tests.support.flows import prove

EVE = "eve@example.com"
UPDATED = "admin.user.updated root ann"
UNKNOWN = "9999"


def create(world, **more):
    root = world.root
    return lambda: root.create(**{"email": EVE, **more})


def put(world, who="", **body):
    root = world.root
    return lambda: root.put(who or world.ann_id, **body)


@case("POST /admin/users", "admin.user.created root new_user")
def user_creation(world):
    return create(world)


@case("POST /admin/users", code="USER_ALREADY_EXISTS")
def user_creation_with_taken_address(world):
    return create(world, email=ANN)


@case("POST /admin/users", code="USERNAME_ALREADY_EXISTS")
def user_creation_with_taken_username(world):
    return create(world, username="ann")


@case("POST /admin/users", code="PHONE_ALREADY_IN_USE")
def user_creation_with_taken_number(world):
    prove(ANN, PHONE)
    return create(world, phone_number=PHONE)


@case("POST /admin/users", code="EMAIL_NOT_CONFIGURED")
def user_creation_without_messenger(world):
    act = create(world)
    world.disable_messenger()
    return act


@case("PUT /admin/users/{user_id}", UPDATED)
def user_update(world):
    return put(world, name="Anna")


@case("PUT /admin/users/{user_id}", UPDATED, "admin.user.suspended root ann")
def suspension_by_put(world):
    return put(world, active=False)


@case("PUT /admin/users/{user_id}")
def user_update_without_change(world):
    return put(world, name="")


@case("PUT /admin/users/{user_id}", "admin.user.updated root root")
def update_of_own_user(world):
    return put(world, world.root.id, name="Root")


@case("PUT /admin/users/{user_id}", code="USER_NOT_FOUND")
def update_of_unknown_user(world):
    return put(world, UNKNOWN, name="Anna")


@case("PUT /admin/users/{user_id}", code="USER_ALREADY_EXISTS")
def update_to_taken_address(world):
    return put(world, email=world.bob["user"]["email"])


@case("PUT /admin/users/{user_id}", code="USERNAME_ALREADY_EXISTS")
def update_to_taken_username(world):
    return put(world, world.bob["user"]["id"], username="ann")


@case("PUT /admin/users/{user_id}", code="PHONE_ALREADY_IN_USE")
def update_to_taken_number(world):
    prove(ANN, PHONE)
    return put(world, world.bob["user"]["id"], phone_number=PHONE)


@case("PUT /admin/users/{user_id}", code="CANNOT_MODIFY_SELF")
def suspension_of_own_user_by_put(world):
    return put(world, world.root.id, active=False)


@case("PUT /admin/users/{user_id}", code="LAST_SUPER_ADMIN")
def demotion_of_last_super_admin(world):
    return put(world, world.root.id, is_super_admin=False)


@case("DELETE /admin/users/{user_id}", "admin.user.deleted root ann")
def deletion(world):
    root = world.root
    return lambda: root.delete(world.ann_id)


@case("DELETE /admin/users/{user_id}", code="USER_NOT_FOUND")
def deletion_of_unknown_user(world):
    root = world.root
    return lambda: root.delete(UNKNOWN)


@case("DELETE /admin/users/{user_id}", code="CANNOT_MODIFY_SELF")
def deletion_of_own_user(world):
    root = world.root
    return lambda: root.delete(root.id)


def do(world, what, who=""):
    root = world.root
    return lambda: root.do(what, who or world.ann_id)


@case("POST /admin/users/{user_id}/suspend", UPDATED, "admin.user.suspended root ann")
def suspension(world):
    return do(world, "suspend")


@case("POST /admin/users/{user_id}/suspend", code="USER_NOT_FOUND")
def suspension_of_unknown_user(world):
    return do(world, "suspend", UNKNOWN)


@case("POST /admin/users/{user_id}/suspend", code="CANNOT_MODIFY_SELF")
def suspension_of_own_user(world):
    return do(world, "suspend", world.root.id)


@case("POST /admin/users/{user_id}/reactivate", UPDATED, "admin.user.reactivated root ann")
def reactivation(world):
    do(world, "suspend")()
    return do(world, "reactivate")


@case("POST /admin/users/{user_id}/reactivate", code="USER_NOT_FOUND")
def reactivation_of_unknown_user(world):
    return do(world, "reactivate", UNKNOWN)


@case("POST /admin/users/{user_id}/logout", "security.session.revoked root ann")
def logout_of_user(world):
    return do(world, "logout")


@case("POST /admin/users/{user_id}/logout", code="USER_NOT_FOUND")
def logout_of_unknown_user(world):
    return do(world, "logout", UNKNOWN)


RESET = "POST /admin/users/{user_id}/reset-password"


@case(RESET, "auth.password.reset_requested root ann", delivered=True)
def password_reset_link(world):
    return do(world, "reset-password")


@case(RESET, code="USER_NOT_FOUND")
def password_reset_link_for_unknown_user(world):
    return do(world, "reset-password", UNKNOWN)


@case(RESET, code="USER_NOT_ACTIVE")
def password_reset_link_for_suspended_user(world):
    do(world, "suspend")()
    return do(world, "reset-password")


@case(RESET, code="VALIDATION_ERROR")
def password_reset_link_for_user_without_address(world):
    get_user_model().objects.filter(pk=world.ann_id).update(email="")
    return do(world, "reset-password")


@case(RESET, code="EMAIL_NOT_CONFIGURED")
def password_reset_link_without_messenger(world):
    act = do(world, "reset-password")
    world.disable_messenger()
    return act


@case("POST /admin/audit/cleanup", "admin.audit.cleaned root")
def cleanup(world):
    root = world.root
    return lambda: root.ask("POST", "admin/audit/cleanup")


for path in ("me/audit", "me/audit/logins", "me/audit/changes", "me/audit/security"):
    silent(f"GET /{path}", lambda world, path=path: world.as_ann("GET", path))
for route, path in {
    "/admin/users": "admin/users",
    "/admin/users/{user_id}": "admin/users/{ann}",
    "/admin/audit": "admin/audit",
    "/admin/audit/users/{user_id}": "admin/audit/users/{ann}",
    "/admin/audit/actions/{action}": "admin/audit/actions/auth.signup",
}.items():

    def read(world, path=path):
        root = world.root
        return lambda: root.ask("GET", path.format(ann=world.ann_id))

    read.__name__ = "read"
    case(f"GET {route}")(read)


@case("GET /admin/users/{user_id}", code="USER_NOT_FOUND")
def read_of_unknown_user(world):
    root = world.root
    return lambda: root.show(UNKNOWN)


for path in ("csrf-token", "openapi.yaml", "openapi.json", "docs", "redoc"):
    silent(f"GET /{path}", lambda world, path=path: world.api.get(path))
    if path in ("docs", "redoc"):

        def page_while_disabled(world, path=path):
            world.configure(OPENAPI={"PAGES": False})
            return lambda: world.api.get(path)

        case(f"GET /{path}", code="NOT_FOUND")(page_while_disabled)
case("GET /docs/{name}", code="NOT_FOUND")(lambda world: lambda: world.api.get("docs/nothing"))
silent("GET /docs/{name}", lambda world: world.api.get("docs/swagger-ui.css"))
