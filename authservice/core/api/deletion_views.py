"""The signed-in user, and the deletion of the own account."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse

from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint, ToConfirm
from authservice.core.api.responses import MessageResponse, User, Verified
from authservice.core.api.serializers import OwnerIn, TokenIn
from authservice.core.own_account import deletion
from authservice.core.recovery import recent_proof
from authservice.core.recovery.recent_proof import Proof
from authservice.core.users.person import Person
from authservice.kernel import errors
from authservice.kernel.http import pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret

_DELETED = phrase("Account deleted.")
_MAILED = phrase("A message to your address says how to delete the account.")
_PAGE = "authservice/pages/delete_account.html"
_REFUSALS = (errors.LastSuperAdmin, errors.SelfDeleteDisabled, errors.UserInUse)
_FAULTS = (*recent_proof.FAULTS, *_REFUSALS)


def _delete(view: Endpoint) -> HttpResponse:
    given, caller = view.read(OwnerIn), view.identity
    proof = Proof(given["password"], given["code"])
    if deletion.delete(caller.person, caller.session, proof, view.client):
        return responses.logged_out(_DELETED)
    return responses.message_response(_MAILED)


class Me(Endpoint):
    @operation("Get the signed-in user", answer=User)
    def read_me(self) -> HttpResponse:
        return answer(responses.own_user(self.identity.person))

    @operation(
        "Delete the user's own account",
        body=OwnerIn,
        answer=MessageResponse,
        faults=_FAULTS,
        id="deleteMe",
    )
    def erase(self) -> HttpResponse:
        return _delete(self)


class DeleteMe(Endpoint):
    """The same for clients that cannot send a body with DELETE."""

    @operation(
        "Delete the user's own account, by POST",
        body=OwnerIn,
        answer=MessageResponse,
        faults=_FAULTS,
        id="postDeleteMe",
    )
    def erase(self) -> HttpResponse:
        return _delete(self)


class DeleteAccount(LinkEndpoint):
    """The link that users without a password get. Opening it changes nothing, since mail scanners
    open every link; the button of its page sends a POST request."""

    route = "delete-account"
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "Show what the link to delete an account does",
        query=TokenIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a button.",
        faults=(errors.InvalidLink, errors.LinkExpired, errors.SelfDeleteDisabled),
        id="showDeleteAccount",
    )
    def show(self) -> HttpResponse:
        if self.is_prefetch:
            return answer()
        return self._ask(self.read_query(TokenIn)["token"])

    @operation(
        "Delete an account with a mailed link",
        body=TokenIn,
        answer=Verified,
        page="A browser gets a page, with the button again if the form comes from another site.",
        faults=(errors.InvalidLink, errors.LinkExpired, *_REFUSALS),
        id="deleteAccount",
    )
    def erase(self) -> HttpResponse:
        token = self.read(TokenIn)["token"]
        if pages.posted_elsewhere(self.request):
            return self._ask(token)
        try:
            deletion.delete_with_link(token, self.client)
        except errors.Fault as fault:
            return self._refused(fault)
        if self.shown_to_people:
            return _page("done")
        deleted: Verified = {"message": _DELETED, "status": "success"}
        return answer(deleted)

    def _ask(self, token: Secret) -> HttpResponse:
        try:
            person = deletion.find(token)
        except errors.Fault as fault:
            return self._refused(fault)
        if self.shown_to_people:
            return _page("confirm", person, token=token)
        status: ToConfirm = {"status": "confirm"}
        return answer(status)

    def _refused(self, fault: errors.Fault) -> HttpResponse:
        if self.shown_to_people:
            return _page("failed", message=fault.text)
        raise fault


def _page(
    state: str, person: Person | None = None, *, token: Secret | None = None, message: str = ""
) -> HttpResponse:
    context = {
        "state": state,
        "account": (person.email or person.username) if person else "",
        "token": token,
        "message": message,
        "action": reverse("authservice:delete-account"),
    }
    return pages.page(_PAGE, context)
