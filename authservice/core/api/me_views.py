"""The signed-in user: who it is, the export of all their data, and the deletion of the account."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal, NotRequired, TypedDict

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse, StreamingHttpResponse
from django.urls import reverse

from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint, ToConfirm
from authservice.core.api.responses import MessageResponse, User, Verified
from authservice.core.api.serializers import OwnerIn, TokenIn
from authservice.core.login.step_up import Need
from authservice.core.own_account import deletion
from authservice.core.recovery import recent_proof
from authservice.core.recovery.recent_proof import Proof
from authservice.core.staff import export_user
from authservice.core.users.person import Person
from authservice.kernel import clock, languages
from authservice.kernel.errors import Fault
from authservice.kernel.http import pages
from authservice.kernel.http.envelope import answer, crash
from authservice.kernel.http.operations import Moment, operation
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret

_DELETED = phrase("Account deleted.")
_MAILED = phrase("A message to your address says how to delete the account.")
_PAGE = "authservice/pages/delete_account.html"
_REFUSALS = (errors.LastSuperAdmin, errors.SelfDeleteDisabled, errors.UserInUse)
_FAULTS = (*recent_proof.FAULTS, *_REFUSALS)
_ERASED = (
    "The account was deleted. Or, for a user without a password but with a"
    " proven address: a link was mailed that deletes it within an hour."
    " `message` says which."
)


class Me(Endpoint):
    path = "me"
    route = "me"

    @operation("GET", answer=User)
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
        "DELETE",
        body=OwnerIn,
        answer=MessageResponse,
        faults=_FAULTS,
        id="deleteMe",
        answered=_ERASED,
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
    """`DELETE /me` for clients that cannot send a body with DELETE."""

    path = "me/delete"
    route = "delete-me"

    @operation(
        "POST",
        body=OwnerIn,
        answer=MessageResponse,
        faults=_FAULTS,
        id="deleteMeWithPost",
        answered=_ERASED,
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


def _delete(view: Endpoint) -> HttpResponse:
    fields, caller = view.read(OwnerIn), view.identity
    proof = Proof(fields["password"], fields["code"])
    if deletion.delete(caller.person, caller.session, proof, view.client):
        return responses.logged_out(_DELETED)
    return responses.message_response(_MAILED)


class DeleteAccount(LinkEndpoint):
    """The link that users without a password get. Opening it changes nothing, since mail scanners
    open every link; the button of its page sends a POST request."""

    path = "account/delete"
    route = "delete-account"
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "GET",
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
        "POST",
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


class ExportPart(TypedDict):
    """One kind of rows about the user, and what it is stored for. `after_deletion` says what
    remains of them when the user is deleted; the parts of the project have none."""

    name: str
    purpose: str
    after_deletion: NotRequired[str]
    rows: list[dict[str, Any]]


class Export(TypedDict):
    """Everything that the service stores about the user. A document without `complete` at its end
    is not whole."""

    user_id: str
    exported_at: Moment
    parts: list[ExportPart]
    complete: Literal[True]


class ExportMe(Endpoint):
    path = "me/export"
    route = "export-me"

    @operation(
        "GET",
        answer=Export,
        faults=(errors.StepUpRequired, errors.StepUpUnavailable),
        id="exportMe",
        answered="The document, as a file to download. It is sent while it is written.",
    )
    def export(self) -> HttpResponse:
        """Download everything about the signed-in user

        One JSON document with all rows that the service stores about the user, each kind with its
        purpose: the account, sessions, second factors, linked providers, organizations,
        invitations, the audit log and what the project adds. It contains no password, secret or
        token. Save it as a file: it may be large. If the connection ends early, the document has no
        `complete` at its end.

        401 `STEP_UP_REQUIRED`: the user must have logged in or confirmed a step-up at most 10
        minutes ago, with the second factor if there is one. 429 `TOO_MANY_REQUESTS`: one export an
        hour; wait for `Retry-After`.
        """
        # The export is worth more to the thief of a token than any other response.
        self.require_proven(Need())
        if self.is_head:
            return answer()
        chunks = _reported(self, export_user.export(self.identity.person, self.client))
        date = clock.utc().date().isoformat()
        # Django reads the whole response first if an async server gets a plain iterator, or WSGI an
        # async one.
        streamed = _in_threads(chunks) if isinstance(self.request, ASGIRequest) else chunks
        response: Any = StreamingHttpResponse(streamed, content_type="application/json")
        response.headers["Content-Disposition"] = f'attachment; filename="your-data-{date}.json"'
        languages.label(response)
        return response  # type: ignore[no-any-return]


def _reported(view: Endpoint, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks. An error is reported and raised again, so that the server cuts the connection:
    the client must not mistake a part for the whole document."""
    try:
        yield from chunks
    except Exception as error:
        crash(view.request, view.request_id, error)
        raise


async def _in_threads(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    # All chunks are read in the thread of the request, which has its database connections.
    read_next = sync_to_async(lambda: next(chunks, None))
    while (chunk := await read_next()) is not None:
        yield chunk
