"""Routes of the members of an organization."""

from __future__ import annotations

from django.http import HttpResponse

from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.listing import array, array_page, counted, given
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase
from authservice.organization import access, errors, members
from authservice.organization.serializers import ListQuery, MembersQuery, RoleIn
from authservice.organization.views import shapes
from authservice.organization.views.organizations import SCOPED

_CHANGES = (*SCOPED, errors.LastOwner, errors.MemberNotFound)


class Members(Endpoint):
    @operation(
        "List the members of an organization",
        query=MembersQuery,
        answer=counted(list[shapes.Member]),
        faults=SCOPED,
        id="listMembers",
    )
    def find(self, org_id: str) -> HttpResponse:
        query = given(self.request.GET)
        wanted = array_page(query, members.SORT_FIELDS)
        searched = fields.read(ListQuery, query)["query"]
        actor = access.find(org_id, self.identity.person)
        found, total = members.page_of(actor.organization, wanted, searched)
        return array([shapes.member(row, person) for row, person in found], total)


class Member(Endpoint):
    @operation(
        "Show a member of an organization",
        answer=shapes.Member,
        faults=(*SCOPED, errors.MemberNotFound),
        id="showMember",
    )
    def show(self, org_id: str, user_id: str) -> HttpResponse:
        actor = access.find(org_id, self.identity.person)
        return answer(shapes.member(*members.get(actor.organization, user_id)))

    @operation(
        "Change the role of a member",
        body=RoleIn,
        answer=responses.MessageResponse,
        faults=_CHANGES,
        id="changeRole",
    )
    def change(self, org_id: str, user_id: str) -> HttpResponse:
        role, caller = self.read(RoleIn)["role"], self.identity
        members.change_role(caller.person, caller.session, self.client, org_id, user_id, role)
        return responses.message_response(phrase("Role changed."))

    @operation(
        "Remove a member, or leave the organization",
        answer=responses.MessageResponse,
        faults=_CHANGES,
        id="removeMember",
    )
    def remove(self, org_id: str, user_id: str) -> HttpResponse:
        caller = self.identity
        members.remove(caller.person, caller.session, self.client, org_id, user_id)
        return responses.message_response(phrase("Member removed."))
