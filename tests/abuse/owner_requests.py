"""Requests of users who change their own account, with their secrets."""

from functools import partial

from authservice.core.credentials import one_time
from authservice.core.messages import kinds
from authservice.core.own_account import deletion
from authservice.core.users import lookup
from tests.admin_api.people import promote
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW
from tests.support.messenger.post import office


def change_password(world):
    body = {"old_password": PASSWORD, "new_password": NEW}
    request = partial(world.api.request, "PUT", "change-password", body, token=world.ann.token)
    return {PASSWORD, NEW, world.ann.token}, request


def change_username(world):
    world.ann.enrol()
    world.clock.forward(seconds=30)
    code = world.ann.code()
    body = {"username": "anna", "password": PASSWORD, "code": code}
    request = partial(world.api.request, "PUT", "change-username", body, token=world.ann.token)
    return {PASSWORD, code, world.ann.token}, request


def profile(world):
    body = {"phone": "+4930123459", "password": PASSWORD}
    request = partial(world.api.request, "PUT", "profile", body, token=world.ann.token)
    return {PASSWORD, world.ann.token}, request


def change_email(world):
    body = {"email": "eve@example.com", "password": PASSWORD}
    request = partial(world.api.request, "POST", "change-email", body, token=world.ann.token)
    return {PASSWORD, world.ann.token}, request


def _link(world):
    change_email(world)[1]()
    return office.token(kinds.CHANGE_EMAIL)


def shown_email_change(world):
    token = _link(world)
    return {token}, partial(world.api.get, f"change-email/confirm?token={token}")


def confirmed_email_change(world):
    token = _link(world)
    return {token}, partial(world.api.request, "POST", "change-email/confirm", {"token": token})


def delete_me(world, method="DELETE", path="me"):
    # The last super admin is refused after everything else, so the request can be repeated.
    promote(ANN)
    world.configure(CORE={"ALLOW_SELF_DELETE": True})
    request = partial(
        world.api.request, method, path, {"password": PASSWORD}, token=world.ann.token
    )
    return {PASSWORD, world.ann.token}, request


def post_delete_me(world):
    return delete_me(world, "POST", "me/delete")


def _deletion_link(world):
    promote(ANN)
    world.configure(CORE={"ALLOW_SELF_DELETE": True})
    person = lookup.find_by_email(ANN)
    return one_time.issue_link(deletion.DELETE_ACCOUNT, person, person.email_key).reveal()


def shown_deletion(world):
    token = _deletion_link(world)
    return {token}, partial(world.api.get, f"account/delete?token={token}")


def deletion_by_link(world):
    token = _deletion_link(world)
    return {token}, partial(world.api.request, "POST", "account/delete", {"token": token})
