"""Deeds at the routes of modules, and what the log says of them."""

from __future__ import annotations

from django.contrib.auth import get_user_model

from tests.admin_api.people import PHONE
from tests.audit.world import ANN, deed, silent

EVE = "eve@example.com"
UPDATED = "admin.user.updated root ann"
NOBODY = "9999"


def create(world, **more):
    root = world.root
    return lambda: root.create(**{"email": EVE, **more})


def put(world, who="", **body):
    root = world.root
    return lambda: root.put(who or world.ann_id, **body)


@deed("POST /admin/users", "admin.user.created root somebody")
def creating_somebody(world):
    return create(world)


@deed("POST /admin/users", code="USER_ALREADY_EXISTS")
def creating_with_a_taken_address(world):
    return create(world, email=ANN)


@deed("POST /admin/users", code="USERNAME_ALREADY_EXISTS")
def creating_with_a_taken_name(world):
    return create(world, username="ann")


@deed("POST /admin/users", code="PHONE_ALREADY_IN_USE")
def creating_with_a_taken_number(world):
    return create(world, phone_number=PHONE)


@deed("POST /admin/users", code="EMAIL_NOT_CONFIGURED")
def creating_where_nobody_sends_mail(world):
    act = create(world)
    world.close_the_post()
    return act


@deed("PUT /admin/users/{user_id}", UPDATED)
def changing_a_user(world):
    return put(world, name="Anna")


@deed("PUT /admin/users/{user_id}", UPDATED, "admin.user.suspended root ann")
def suspending_by_put(world):
    return put(world, active=False)


@deed("PUT /admin/users/{user_id}")
def changing_nothing_of_a_user(world):
    return put(world, name="")


@deed("PUT /admin/users/{user_id}", "admin.user.updated root root")
def changing_oneself_as_staff(world):
    return put(world, world.root.id, name="Root")


@deed("PUT /admin/users/{user_id}", code="USER_NOT_FOUND")
def changing_nobody(world):
    return put(world, NOBODY, name="Anna")


@deed("PUT /admin/users/{user_id}", code="USER_ALREADY_EXISTS")
def giving_a_taken_address(world):
    return put(world, email=world.bob["user"]["email"])


@deed("PUT /admin/users/{user_id}", code="USERNAME_ALREADY_EXISTS")
def giving_a_taken_name(world):
    return put(world, world.bob["user"]["id"], username="ann")


@deed("PUT /admin/users/{user_id}", code="PHONE_ALREADY_IN_USE")
def giving_a_taken_number(world):
    return put(world, world.bob["user"]["id"], phone_number=PHONE)


@deed("PUT /admin/users/{user_id}", code="CANNOT_MODIFY_SELF")
def suspending_oneself_by_put(world):
    return put(world, world.root.id, active=False)


@deed("PUT /admin/users/{user_id}", code="LAST_SUPER_ADMIN")
def giving_up_the_last_right(world):
    return put(world, world.root.id, is_super_admin=False)


@deed("DELETE /admin/users/{user_id}", "admin.user.deleted root ann")
def deleting_a_user(world):
    root = world.root
    return lambda: root.delete(world.ann_id)


@deed("DELETE /admin/users/{user_id}", code="USER_NOT_FOUND")
def deleting_nobody(world):
    root = world.root
    return lambda: root.delete(NOBODY)


@deed("DELETE /admin/users/{user_id}", code="CANNOT_MODIFY_SELF")
def deleting_oneself(world):
    root = world.root
    return lambda: root.delete(root.id)


def do(world, what, who=""):
    root = world.root
    return lambda: root.do(what, who or world.ann_id)


@deed("POST /admin/users/{user_id}/suspend", UPDATED, "admin.user.suspended root ann")
def suspending(world):
    return do(world, "suspend")


@deed("POST /admin/users/{user_id}/suspend", code="USER_NOT_FOUND")
def suspending_nobody(world):
    return do(world, "suspend", NOBODY)


@deed("POST /admin/users/{user_id}/suspend", code="CANNOT_MODIFY_SELF")
def suspending_oneself(world):
    return do(world, "suspend", world.root.id)


@deed("POST /admin/users/{user_id}/reactivate", UPDATED, "admin.user.reactivated root ann")
def reactivating(world):
    do(world, "suspend")()
    return do(world, "reactivate")


@deed("POST /admin/users/{user_id}/reactivate", code="USER_NOT_FOUND")
def reactivating_nobody(world):
    return do(world, "reactivate", NOBODY)


@deed("POST /admin/users/{user_id}/logout", "security.session.revoked root ann")
def signing_somebody_out(world):
    return do(world, "logout")


@deed("POST /admin/users/{user_id}/logout", code="USER_NOT_FOUND")
def signing_nobody_out(world):
    return do(world, "logout", NOBODY)


RESET = "POST /admin/users/{user_id}/reset-password"


@deed(RESET, "auth.password.reset_requested root ann", delivered=True)
def mailing_somebody_a_link(world):
    return do(world, "reset-password")


@deed(RESET, code="USER_NOT_FOUND")
def mailing_nobody_a_link(world):
    return do(world, "reset-password", NOBODY)


@deed(RESET, code="USER_NOT_ACTIVE")
def mailing_a_link_to_somebody_suspended(world):
    do(world, "suspend")()
    return do(world, "reset-password")


@deed(RESET, code="VALIDATION_ERROR")
def mailing_a_link_to_somebody_without_an_address(world):
    get_user_model().objects.filter(pk=world.ann_id).update(email="")
    return do(world, "reset-password")


@deed(RESET, code="EMAIL_NOT_CONFIGURED")
def mailing_where_nobody_sends_mail(world):
    act = do(world, "reset-password")
    world.close_the_post()
    return act


@deed("POST /admin/audit/cleanup", "admin.audit.cleaned root")
def cleaning_up(world):
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

    def look(world, path=path):
        root = world.root
        return lambda: root.ask("GET", path.format(ann=world.ann_id))

    look.__name__ = "looking"
    deed(f"GET {route}")(look)


@deed("GET /admin/users/{user_id}", code="USER_NOT_FOUND")
def looking_for_nobody(world):
    root = world.root
    return lambda: root.show(NOBODY)


for path in ("csrf-token", "openapi.yaml", "openapi.json", "docs", "redoc"):
    silent(f"GET /{path}", lambda world, path=path: world.api.get(path))
    if path in ("docs", "redoc"):

        def look_in_vain(world, path=path):
            world.configure(OPENAPI={"PAGES": False})
            return lambda: world.api.get(path)

        deed(f"GET /{path}", code="NOT_FOUND")(look_in_vain)
deed("GET /docs/{name}", code="NOT_FOUND")(lambda world: lambda: world.api.get("docs/nothing"))
silent("GET /docs/{name}", lambda world: world.api.get("docs/swagger-ui.css"))
