"""Requests of users who change their own account, with their secrets."""

from functools import partial

from authservice.kernel import message_queue
from tests.support.client import PASSWORD
from tests.support.flows import NEW
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
    return office.token(message_queue.CHANGE_EMAIL)


def shown_email_change(world):
    token = _link(world)
    return {token}, partial(world.api.get, f"change-email/confirm?token={token}")


def confirmed_email_change(world):
    token = _link(world)
    return {token}, partial(world.api.request, "POST", "change-email/confirm", {"token": token})
