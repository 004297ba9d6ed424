"""The signed-in user, and the deletion of the own account."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse

from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint, ToConfirm
from authservice.core.api.responses import MessageResponse, User, Verified
from authservice.core.api.serializers import OwnerIn, TokenIn
from authservice.core.own_account import deletion
from authservice.core.recovery import recent_proof
from authservice.core.recovery.recent_proof import Proof
from authservice.core.users.person import Person
from authservice.kernel.errors import Fault
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
    @operation(answer=User)
    def read_me(self) -> HttpResponse:
        """Get the signed-in user

        The user of the access token, as the database has it now. Call it when the app starts, to
        find out who is signed in.

        401 `TOKEN_EXPIRED`: refresh and repeat the request. 401 `INVALID_TOKEN`: refresh too; if
        that is refused, the session has ended, by a logout, a changed password or a suspension, so
        show the login. 401 `UNAUTHORIZED`: no token was sent. With tokens in cookies refresh then
        too, because the browser deletes the cookie of an expired token.
        """
        return answer(responses.own_user(self.identity.person))

    @operation(
        body=OwnerIn,
        answer=MessageResponse,
        faults=_FAULTS,
        id="deleteMe",
        answered=(
            "The account was deleted. Or, for a user without a password but with a"
            " proven address: a link was mailed that deletes it within an hour."
            " `message` says which."
        ),
    )
    def erase(self) -> HttpResponse:
        """Delete the user's own account

        Deletes the account of the signed-in user with all data of the service, permanently. All
        sessions end. Ask for a confirmation before.

        Send a proof of the owner: the current `password`, and `code` of the second factor if one is
        enabled. A user without a password sends neither, but must have logged in at most 10 minutes
        ago. 403 `REAUTHENTICATION_REQUIRED`: ask for the password, or for another login. 401
        `INVALID_CREDENTIALS` and `TWO_FACTOR_INVALID`: the password or the code is wrong. 429
        `TOO_MANY_ATTEMPTS`: wait for `Retry-After`.

        403 `SELF_DELETE_DISABLED`: the service does not allow it. 400 `LAST_SUPER_ADMIN`: the
        service would have no super admin left. 409 `USER_IN_USE`: other data of the project needs
        this user.
        """
        return _delete(self)


class DeleteMe(Endpoint):
    """The same for clients that cannot send a body with DELETE."""

    @operation(
        body=OwnerIn,
        answer=MessageResponse,
        faults=_FAULTS,
        id="deleteMeWithPost",
        answered=(
            "The account was deleted. Or, for a user without a password but with a"
            " proven address: a link was mailed that deletes it within an hour."
            " `message` says which."
        ),
    )
    def erase(self) -> HttpResponse:
        """Delete the user's own account, by POST

        Deletes the account of the signed-in user with all data of the service, permanently. All
        sessions end. Ask for a confirmation before.

        Send a proof of the owner: the current `password`, and `code` of the second factor if one is
        enabled. A user without a password sends neither, but must have logged in at most 10 minutes
        ago. 403 `REAUTHENTICATION_REQUIRED`: ask for the password, or for another login. 401
        `INVALID_CREDENTIALS` and `TWO_FACTOR_INVALID`: the password or the code is wrong. 429
        `TOO_MANY_ATTEMPTS`: wait for `Retry-After`.

        403 `SELF_DELETE_DISABLED`: the service does not allow it. 400 `LAST_SUPER_ADMIN`: the
        service would have no super admin left. 409 `USER_IN_USE`: other data of the project needs
        this user.

        The same as `DELETE /me`, for clients that cannot send a body with DELETE.
        """
        return _delete(self)


class DeleteAccount(LinkEndpoint):
    """The link that users without a password get. Opening it changes nothing, since mail scanners
    open every link; the button of its page sends a POST request."""

    route = "delete-account"
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        query=TokenIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a button.",
        faults=(errors.InvalidLink, errors.LinkExpired, errors.SelfDeleteDisabled),
        id="showAccountDeletion",
    )
    def show(self) -> HttpResponse:
        """Show what the link to delete an account does

        The address of the link that deletes an account. Opening it deletes nothing: a browser gets
        a page with a button, other clients get `status` `confirm`. Show what will happen, and send
        `token` with `POST /account/delete`.

        400 `INVALID_TOKEN` or `TOKEN_EXPIRED`: request another link with `POST /me/delete`.
        """
        if self.is_head:
            return answer()
        return self._ask(self.read_query(TokenIn)["token"])

    @operation(
        body=TokenIn,
        answer=Verified,
        page="A browser gets a page, with the button again if the form comes from another site.",
        faults=(errors.InvalidLink, errors.LinkExpired, *_REFUSALS),
        id="confirmAccountDeletion",
        answered="The account was deleted; `status` is `success`.",
    )
    def erase(self) -> HttpResponse:
        """Delete an account with a mailed link

        Deletes an account with the `token` of the mailed link, permanently. It works once, within
        an hour. The caller need not be signed in, and all sessions of the account end.

        400 `LAST_SUPER_ADMIN` and 409 `USER_IN_USE` mean that the account must stay.
        """
        token = self.read(TokenIn)["token"]
        if pages.posted_elsewhere(self.request):
            return self._ask(token)
        try:
            deletion.delete_with_link(token, self.client)
        except Fault as fault:
            return self._refused(fault)
        if self.shown_to_people:
            return _page("done")
        deleted: Verified = {"message": _DELETED, "status": "success"}
        return answer(deleted)

    def _ask(self, token: Secret) -> HttpResponse:
        try:
            person = deletion.find(token)
        except Fault as fault:
            return self._refused(fault)
        if self.shown_to_people:
            return _page("confirm", person, token=token)
        status: ToConfirm = {"status": "confirm"}
        return answer(status)

    def _refused(self, fault: Fault) -> HttpResponse:
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
