"""The login paths of invitations and organizations."""

from __future__ import annotations

from typing import Any

from django.apps import apps

from tests.core.login_matrix.login_path import LoginPath
from tests.core.login_matrix.world import World
from tests.support.client import PASSWORD, Answer


class InvitedAccount(LoginPath):
    """Carol invites the address of the user."""

    def prepare(self, world: World) -> Any:
        return world.invites.mailed(world.ann.email)

    def complete(self, world: World, proof: Any) -> Answer:
        return world.invites.accept(proof)


class InvitedNewUser(InvitedAccount):
    """Carol invites an address without an account."""

    def prepare(self, world: World) -> Any:
        return world.invites.mailed("new@example.com")

    def complete(self, world: World, proof: Any) -> Answer:
        return world.invites.accept_as_new(proof)


class InvitedWhileSignedIn(InvitedAccount):
    """The user is signed in and keeps the session."""

    def prepare(self, world: World) -> Any:
        return super().prepare(world), world.api.log_in(world.ann.email)["access_token"]

    def complete(self, world: World, proof: Any) -> Answer:
        token, access_token = proof
        return world.invites.accept(token, bearer=access_token)


class ToOrganization(InvitedAccount):
    """Carol invites the address of the user to her organization."""

    def prepare(self, world: World) -> Any:
        return world.invited_to_organization(world.ann.email)

    def complete(self, world: World, proof: Any) -> Answer:
        return world.api.request("POST", "org/invitations/accept", {"token": proof})


class ToOrganizationNewUser(ToOrganization):
    """Carol invites an address without an account."""

    def prepare(self, world: World) -> Any:
        return world.invited_to_organization("new@example.com")

    def complete(self, world: World, proof: Any) -> Answer:
        body = {"token": proof, "name": "New", "password": PASSWORD}
        return world.api.request("POST", "org/invitations/accept", body)


class ToOrganizationWhileSignedIn(ToOrganization):
    """The user is signed in and keeps the session."""

    def prepare(self, world: World) -> Any:
        return super().prepare(world), world.api.log_in(world.ann.email)["access_token"]

    def complete(self, world: World, proof: Any) -> Answer:
        token, bearer = proof
        return world.api.request("POST", "org/invitations/accept", {"token": token}, token=bearer)


class Switch(LoginPath):
    """New tokens of the session, with an organization of the user."""

    def prepare(self, world: World) -> Any:
        bearer = world.api.log_in(world.ann.email)["access_token"]
        made = world.api.request("POST", "org", {"name": "Ann's"}, token=bearer)
        return made.data["id"], bearer

    def complete(self, world: World, proof: Any) -> Answer:
        org_id, bearer = proof
        return world.api.request("POST", "org/switch", {"org_id": org_id}, token=bearer)


# `tests/organization/test_organization.py` runs the matrix in a host with the module.
_OF_ORGANIZATIONS: tuple[LoginPath, ...] = (
    ToOrganization("POST org/invitations/accept", "org invitation"),
    ToOrganizationNewUser("POST org/invitations/accept", "org invitation, new user"),
    ToOrganizationWhileSignedIn("POST org/invitations/accept", "org invitation, signed in"),
    Switch("POST org/switch", "switch"),
)
INVITED_PATHS = (
    InvitedAccount("POST invitations/accept", "invitation"),
    InvitedNewUser("POST invitations/accept", "invitation, new user"),
    InvitedWhileSignedIn("POST invitations/accept", "invitation, signed in"),
    *(_OF_ORGANIZATIONS if apps.is_installed("authservice.organization") else ()),
)
