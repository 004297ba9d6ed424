"""Routes of organizations: the caller's own, and a single one."""

from __future__ import annotations

from django.http import HttpResponse

from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.kernel import errors as kernel_errors
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import carries, operation
from authservice.kernel.phrases import phrase
from authservice.organization import access, active, errors, organizations
from authservice.organization.serializers import OrganizationChangesIn, OrganizationIn, SwitchIn
from authservice.organization.views import shapes

# What every route below /org/{orgId} may refuse.
SCOPED = (errors.OrganizationNotFound, errors.NotAMember, errors.InsufficientRole)


@carries("Set-Cookie")
class SwitchedTokens(responses.IssuedTokens):
    """New tokens of the same session; the access token has the claims of the organization."""

    message: str


class Organizations(Endpoint):
    @operation(
        "Create an organization",
        body=OrganizationIn,
        answer=shapes.Organization,
        status=201,
        faults=(kernel_errors.Forbidden, errors.SlugTaken, errors.TooManyOrganizations),
        id="createOrganization",
    )
    def create(self) -> HttpResponse:
        wanted, caller = self.read(OrganizationIn), self.identity
        created = organizations.create(caller.person, caller.session, self.client, **wanted)
        return answer(shapes.organization(created), status=201)


class OwnOrganizations(Endpoint):
    @operation(
        "List the organizations of the caller",
        answer=list[shapes.Organization],
        id="listOwnOrganizations",
    )
    def find(self) -> HttpResponse:
        rows = organizations.joined_by(self.identity.person.user.pk)
        return answer([shapes.organization(row) for row in rows])


class Switch(Endpoint):
    @operation(
        "Make an organization the active one of the session",
        body=SwitchIn,
        answer=SwitchedTokens,
        faults=SCOPED,
        id="switchOrganization",
    )
    def switch(self) -> HttpResponse:
        org_id, caller = self.read(SwitchIn)["org_id"], self.identity
        issued = active.switch(caller.person, caller.session, self.client, org_id)
        body: SwitchedTokens = {
            **responses.tokens(issued),
            "message": phrase("Organization switched."),
        }
        return responses.issue(body, issued)


class Organization(Endpoint):
    @operation("Show an organization", answer=shapes.Organization, faults=SCOPED)
    def show(self, org_id: str) -> HttpResponse:
        actor = access.find(org_id, self.identity.person)
        return answer(shapes.organization(actor.organization))

    @operation(
        "Change an organization",
        body=OrganizationChangesIn,
        answer=shapes.Organization,
        faults=SCOPED,
    )
    def change(self, org_id: str) -> HttpResponse:
        changes, caller = self.read(OrganizationChangesIn), self.identity
        if not changes:
            raise kernel_errors.ValidationFailed(
                phrase("At least one field to change is required.")
            )
        changed = organizations.update(caller.person, caller.session, self.client, org_id, changes)
        return answer(shapes.organization(changed))

    @operation(
        "Delete an organization permanently",
        answer=responses.MessageResponse,
        faults=(*SCOPED, errors.OrganizationInUse),
    )
    def delete(self, org_id: str) -> HttpResponse:
        caller = self.identity
        organizations.delete(caller.person, caller.session, self.client, org_id)
        return responses.message_response(phrase("Organization deleted."))
