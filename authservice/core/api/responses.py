"""Responses about users and sessions: plain functions from rows to dicts.

The response of a login: JSON, or a redirect with the result in the fragment of its URL.

Browsers do not send the fragment to servers, so tokens in it do not get into server logs. But
scripts, extensions and the history can read it, so a redirect that sets token cookies has no
tokens in its fragment.

Only settings determine the target of a redirect, never the request, so there is no open redirect.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.db.models import Manager, Model
from django.db.models.fields.files import FieldFile
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.functional import Promise

from authservice.core.api import token_cookies
from authservice.core.api.callers import accepts_cookies
from authservice.core.conf import core
from authservice.core.credentials import lockout
from authservice.core.invitations.models import Status
from authservice.core.login.login import Login
from authservice.core.messages import mailed_links
from authservice.core.sessions.sessions import Tokens
from authservice.core.users import user_fields
from authservice.core.users.person import Person
from authservice.kernel.errors import Fault
from authservice.kernel.http import envelope
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.incoming import DEVICE_COOKIE
from authservice.kernel.http.operations import Extras, Is, Moment, Named, carries, extended
from authservice.kernel.interfaces import SessionData
from authservice.kernel.languages import Phrase, phrase, translated
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

LOGGED_IN = phrase("Logged in.")
CHALLENGED = phrase("A further step is needed to sign in.")
WRITTEN = phrase("A message to this address says what to do next.")
VERIFY_FIRST = phrase("The account was created. Verify it to sign in.")


InvitationStatus = Annotated[str, Is(enum=list(Status.values)), Named("InvitationStatus")]


class MessageResponse(TypedDict):
    """A message for the user."""

    message: str


@carries("X-Device-Token", "Set-Cookie")
class NewDeviceToken(MessageResponse):
    """A message, and a new device token in the headers; the earlier ones are revoked."""


class Sent(MessageResponse):
    """A message was sent, or would be if the address had an account: the response does not say
    which."""

    status: Literal["sent"]


class Verified(TypedDict):
    """The result of a mailed link."""

    message: str
    status: Literal["success"]


def extra_attributes() -> dict[str, tuple[Any, bool]]:
    """The field of a model, or another attribute, behind each extra field of a user, and whether
    there may be no row that has it; for the API description."""
    paths = user_fields.paths().items()
    return {name: (user_fields.attribute(path), "." in path) for name, path in paths}


@extended(extra_attributes)
class User(TypedDict):
    """A user. Unknown texts are empty, unknown times are null."""

    id: str
    email: str
    name: str
    first_name: str
    last_name: str
    username: str
    avatar: str
    phone_number: str
    active: bool
    email_verified: bool
    phone_number_verified: bool
    created_at: Moment
    updated_at: Moment | None
    last_login_at: Moment | None


class IssuedTokens(TypedDict):
    """A pair of tokens; `expires_in` is the lifetime of the access token in seconds."""

    access_token: str
    refresh_token: str
    expires_in: int


class ContinuedTokens(TypedDict):
    """New tokens of a session that continues. The refresh token is a new one if the client sent its
    current one, otherwise the current one, or absent if the service withholds it."""

    access_token: str
    refresh_token: NotRequired[str]
    expires_in: int


class Refreshed(IssuedTokens):
    """New tokens of an existing session."""

    message: str


class SignedIn(TypedDict):
    """The user of a session, and what modules say about them."""

    status: Literal["signed_in"]
    user: User
    message: str
    data: NotRequired[Annotated[dict[str, Any], Extras()]]


@carries("X-Device-Token", "Set-Cookie")
class Authenticated(IssuedTokens, SignedIn):
    """The tokens of a new session and its user."""


@carries("X-Device-Token", "Set-Cookie")
class Entered(ContinuedTokens, SignedIn):
    """The tokens of a new session, or of the client's own that continues, and its user."""


@carries("Set-Cookie")
class VerificationRequired(TypedDict):
    """A new account whose owner must verify it before they get tokens."""

    status: Literal["verification_required"]
    user: User
    message: str


# The options of `navigator.credentials.get`, as JSON.
PasskeyOptions = Annotated[dict[str, Any], Named("PasskeyRequest")]


class ChallengedUser(TypedDict):
    """The user who must complete a challenge."""

    id: str
    email: str


class SecondFactor(TypedDict):
    """The data to verify a second factor with `POST /2fa/verify-login`. `methods` are `code` and
    `passkey`, of which one is enough, and absent if only a code is; `passkey` are the options of
    Web Authentication, if that is one of them."""

    requires_2fa: bool
    temp_token: str
    user_id: str
    message: str
    methods: NotRequired[list[str]]
    passkey: NotRequired[PasskeyOptions]


class SecondFactorSetup(SecondFactor):
    """The data to set up the second factor that the user does not have yet: send `temp_token` to
    `POST /2fa/setup-login`, then a code of the app to `POST /2fa/verify-login`."""


class SecondFactorChallenge(TypedDict):
    """The user must send a code of the second factor."""

    type: Literal["2fa"]
    data: SecondFactor


class SetupChallenge(TypedDict):
    """The user must set up a second factor and send its first code."""

    type: Literal["2fa_setup"]
    data: SecondFactorSetup


Challenge = Annotated[SecondFactorChallenge | SetupChallenge, Named("Challenge")]


class Challenged(TypedDict):
    """A login that needs a further step; there are no tokens yet."""

    status: Literal["challenge"]
    user: ChallengedUser
    challenges: list[Challenge]
    message: str


def user(person: Person) -> User:
    """The user in responses, without the additional fields of the admin routes."""
    return {
        "id": person.id,
        "email": person.email,
        "name": person.account_row.name,
        "first_name": person.first_name,
        "last_name": person.last_name,
        "username": person.username,
        "avatar": person.account_row.avatar,
        "phone_number": person.account_row.phone_number,
        "active": person.active,
        "email_verified": person.email_verified,
        "phone_number_verified": person.phone_number_verified,
        "created_at": utc(person.account_row.created_at),
        "updated_at": utc(person.account_row.updated_at),
        "last_login_at": utc(person.last_login_at),
    }


def own_user(person: Person) -> User:
    """As `user`, with `CORE.USER_FIELDS`, for responses to this user: never in a list, or for other
    users."""
    if not core.user_fields:
        return user(person)
    paths = user_fields.paths().items()
    extra_fields = {name: as_json(user_fields.value(person.user, path)) for name, path in paths}
    return cast(User, {**extra_fields, **user(person)})


def tokens(issued: Tokens) -> IssuedTokens:
    return {
        "access_token": issued.access_token.reveal(),
        "refresh_token": issued.refresh_token.reveal(),
        "expires_in": issued.expires_in,
    }


def continued(issued: Tokens) -> ContinuedTokens:
    """As `tokens`, for a session that continues: its refresh token may be withheld."""
    body: ContinuedTokens = {**tokens(issued)}
    if not issued.refresh_token:
        del body["refresh_token"]
    return body


def login(
    outcome: Login,
    *,
    message: Phrase = LOGGED_IN,
    status: int = 200,
    more: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """Any result of a login as JSON: `Authenticated` or `Entered` with `more` fields,
    `VerificationRequired`, or `Challenged` with 200."""
    person = outcome.person
    if outcome.challenges:
        # Not in a variable: it has the plain `temp_token`.
        return answer(
            Challenged(
                status="challenge",
                user={"id": person.id, "email": person.email},
                # By the slot's signature, a gate returns the data of its type of challenge.
                challenges=[
                    cast(Challenge, {"type": challenge.type, "data": shown(challenge.data)})
                    for challenge in outcome.challenges
                ],
                message=CHALLENGED,
            )
        )

    if outcome.tokens is None:
        registered: VerificationRequired = {
            "status": "verification_required",
            "user": own_user(person),
            "message": VERIFY_FIRST,
        }
        return answer(registered, status=status)

    # The fields that modules add: before the tokens are in a variable, because their statements may
    # fail, and reports of errors show variables.
    added = [data.extras(person, outcome.current_session) for data in plugs(SessionData)]
    extras = {name: value for fields in added for name, value in fields.items()}
    body = {
        "status": "signed_in",
        **continued(outcome.tokens),
        "user": own_user(person),
        "message": message,
        **({"data": extras} if extras else {}),
        **(more or {}),
    }
    response = issue(body, outcome.tokens, status=status)
    hand_out_device(response, outcome.device_token)
    return response


def message_response(message: Phrase, *, status: int = 200) -> HttpResponse:
    body: MessageResponse = {"message": message}
    return answer(body, status=status)


def issue(body: Mapping[str, Any], issued: Tokens, *, status: int = 200) -> HttpResponse:
    """A response with tokens in its body, and in cookies if the host project uses them."""
    response = answer(body, status=status)
    token_cookies.put(response, issued)
    return response


def logged_out(message: Phrase | None = None) -> HttpResponse:
    response = message_response(message or phrase("Logged out."))
    token_cookies.forget(response)
    return response


def sent(message: Phrase, *, status: int = 200) -> HttpResponse:
    """A response that does not reveal whether an address has an account."""
    body: Sent = {"status": "sent", "message": message}
    return answer(body, status=status)


def shown(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a challenge; its secrets are revealed for the client, its texts translated."""
    revealed = dict(data)
    for name, value in data.items():
        if isinstance(value, Secret):
            revealed[name] = value.reveal()
        elif isinstance(value, Phrase):
            revealed[name] = translated(value)
    return revealed


def hand_out_device(response: HttpResponse, token: Secret) -> None:
    """Give the client the token of its device, if there is one."""
    if token:
        response.headers["X-Device-Token"] = token.reveal()
        keep_device(response, token)


def keep_device(response: HttpResponse, token: Secret) -> None:
    """Store the device token in a cookie; it gives the device its own limit of attempts."""
    envelope.put_cookie(response, DEVICE_COOKIE, token.reveal(), ttl=lockout.DEVICE_TTL)


def as_json(value: Any) -> Any:
    """An extra field of a user: times are UTC as in all responses, durations seconds, files their
    URL, rows their primary key. Raises `TypeError` for a value of another type."""
    if isinstance(value, bool | int | float | None):
        return value
    if isinstance(value, datetime):
        return utc(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, FieldFile):
        return value.url if value else ""
    if isinstance(value, Model):
        return str(value.pk)
    if isinstance(value, str | Decimal | UUID | Promise):
        return str(value)
    if isinstance(value, Manager):
        return [as_json(item) for item in value.all()]
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item) for item in value]
    raise TypeError(f"A {type(value).__name__} in CORE.USER_FIELDS has no JSON value.")


def redirect_login(
    outcome: Login, *, to: str, message: Phrase, more: Mapping[str, Any] | None = None
) -> HttpResponse:
    """Redirect to `to` with the result of a login; JSON, with the fields `more`, if `to` is
    empty."""
    if not to:
        return login(outcome, message=message, more=more)
    response = redirect_to(_with_values(to, _values_of_login(outcome)))
    if outcome.tokens:
        token_cookies.put(response, outcome.tokens)
        keep_device(response, outcome.device_token)
    return response


def redirect_refusal(fault: Fault, *, to: str) -> HttpResponse:
    """Redirect to `to` with the error in the fragment. Raises `fault` if `to` is empty."""
    if not to:
        raise fault
    return redirect_to(_with_values(to, {"error": fault.code, "error_description": fault.text}))


def redirect_refusal_in_query(fault: Fault, *, to: str) -> HttpResponse:
    """As `redirect_refusal`, with the error in the query, which a front end without scripts can
    read."""
    if not to:
        raise fault
    values = urlencode({"error": fault.code, "error_description": fault.text})
    return redirect_to(f"{to}{'&' if urlsplit(to).query else '?'}{values}")


def redirect_result(values: Mapping[str, str], *, to: str) -> HttpResponse:
    """Redirect to `to` with values in the fragment."""
    return redirect_to(_with_values(to, values))


def redirect_verified(body: Verified, *, status: int) -> HttpResponse:
    """The success of a link that verifies an address: a redirect to the front end, or JSON."""
    onward = mailed_links.verified("success")
    return redirect_to(onward, status=status) if onward else answer(body)


def redirect_not_verified(fault: Fault, *, status: int) -> HttpResponse:
    """The refusal of such a link: a redirect to the front end. Raises `fault` if there is none."""
    onward = mailed_links.verified("error")
    if not onward:
        raise fault
    return redirect_to(onward, status=status)


def redirect_to(url: str, *, status: int = 302) -> HttpResponse:
    """Redirect without a referrer: the target does not see this URL. Use 303 after a form."""
    response = HttpResponseRedirect(url)
    response.status_code = status
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _values_of_login(outcome: Login) -> dict[str, str]:
    """The values of the fragment. They contain plain tokens, so callers pass them on as an argument
    and never store them in a variable."""
    if outcome.tokens and accepts_cookies():
        return {"status": "signed_in"}
    if outcome.tokens:
        tokens = outcome.tokens
        return {
            "access_token": tokens.access_token.reveal(),
            "refresh_token": tokens.refresh_token.reveal(),
        }
    challenge = outcome.challenges[0]
    return {
        "challenge": challenge.type,
        "temp_token": str(shown(challenge.data).get("temp_token", "")),
    }


def _with_values(url: str, values: Mapping[str, str]) -> str:
    return f"{url}#{urlencode(values)}"
