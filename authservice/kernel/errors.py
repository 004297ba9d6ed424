"""The type of all API errors, the list of them, and the errors of any request.

An error has a status, a code and a message for the client, and `cause` and `remedy` for the
reference in the docs. Rules raise a `Fault` and the HTTP layer renders it; no other code builds an
error response. Codes are public API. Core and the modules declare theirs in `errors.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from authservice.kernel.languages import Phrase, of_field, translated


class Fault(Exception):
    """An API error: its HTTP `status`, its public `code` and a human-readable `message`.

    The message is in English, for logs and the API description; a response has the `text`. The
    message of a class is a plain string. A message that is passed to an instance is a `phrase`, so
    that it is translated too. `cause` says when the error occurs and `remedy` what the client
    should do; the reference in the docs shows both.
    """

    status = 400
    code = ""
    message = ""
    cause = ""
    remedy = ""
    headers: Mapping[str, str] = {}
    # Further fields of `data` in the response, such as what the client may choose from, and their
    # JSON Schemas for the API description.
    fields: Mapping[str, Any] = {}
    described: Mapping[str, Mapping[str, Any]] = {}

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Mapping[str, Sequence[str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.message = message or type(self).message
        self.details = details
        self.headers = {**type(self).headers, **(headers or {})}
        super().__init__(self.message)

    @property
    def text(self) -> str:
        """The message in the active language."""
        return translated(self.message)

    @property
    def texts(self) -> dict[str, list[str]]:
        """The details in the active language."""
        details = self.details or {}
        return {name: [translated(rule) for rule in rules] for name, rules in details.items()}


def catalogue() -> Iterator[type[Fault]]:
    """Every error that core and the installed modules declare, sorted by code."""
    # A subclass without its own code looks the same to clients as its parent.
    faults = {fault for fault in _subclasses(Fault) if vars(fault).get("code")}
    return iter(sorted(faults, key=lambda fault: (fault.code, fault.status)))


def _subclasses(parent: type[Fault]) -> Iterator[type[Fault]]:
    for child in parent.__subclasses__():
        yield child
        yield from _subclasses(child)


# The request


class ValidationFailed(Fault):
    code = "VALIDATION_ERROR"
    message = "The request is not valid."
    cause = (
        "A field of the body, a query parameter or a part of the path is missing, has the wrong"
        " type, is too long or breaks a rule. The message names the first one."
    )
    remedy = (
        "Correct the field that the message names. With `API.ERROR_DETAILS` the response lists"
        " all invalid fields."
    )


def invalid(field: str, rule: Phrase) -> ValidationFailed:
    """A validation error that names the field and the rule."""
    return ValidationFailed(of_field(field, [rule]), details={field: [rule]})


class InvalidJSON(Fault):
    code = "INVALID_JSON"
    message = "The body is not valid JSON."
    cause = "The body cannot be parsed as JSON, or its arrays and objects are nested too deeply."
    remedy = "Send JSON in UTF-8, of at most 100 levels."


class InvalidRequestBody(Fault):
    code = "INVALID_REQUEST_BODY"
    message = "The body must be a JSON object."
    cause = (
        "The body is JSON but not an object, was cut off, or was sent in chunks to a server that"
        " does not say where it ends."
    )
    remedy = "Send a JSON object, and a `Content-Length` header if there is a body."


class RequestTooLarge(Fault):
    status = 413
    code = "REQUEST_TOO_LARGE"
    message = "The body must not exceed 64 KiB."
    cause = "The body is larger than 64 KiB."
    remedy = "Send less. No route needs a larger body."


class UnsupportedMediaType(Fault):
    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"
    message = "The body must be sent as application/json in UTF-8."
    cause = (
        "The `Content-Type` is not `application/json`, or names another charset than UTF-8. Or the"
        " body has a `Content-Encoding`, such as gzip."
    )
    remedy = "Send `Content-Type: application/json`, and the body without compression."


class NotFound(Fault):
    status = 404
    code = "NOT_FOUND"
    message = "This path does not exist."
    cause = (
        "No installed module has this path. Also a page of the API description that"
        " `OPENAPI.PAGES` turns off."
    )
    remedy = "Check the path and its prefix. Paths have no trailing slash."


class MethodNotAllowed(Fault):
    status = 405
    code = "METHOD_NOT_ALLOWED"
    message = "This path does not support the method."
    cause = "The path exists, but not with this method."
    remedy = "Use a method that the `Allow` header lists."


class InternalError(Fault):
    status = 500
    code = "INTERNAL_ERROR"
    message = "An internal error occurred."
    cause = (
        "An unexpected exception occurred. Its traceback and the request id are logged to"
        " `django.request`."
    )
    remedy = (
        "Report the `X-Request-ID` of the response to the operator, who finds the traceback in"
        " the log."
    )


class ServiceUnavailable(Fault):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    headers = {"Retry-After": "2"}
    message = "The service is temporarily unavailable. Try again later."
    cause = (
        "The database or the store of sessions cannot be reached or cannot write, a lock or a"
        " statement takes too long, or too many passwords are being hashed at the same time."
    )
    remedy = (
        "Repeat the request after the time in `Retry-After`. If the error persists, the operator"
        " checks the database, the store and `CORE.HASHES_IN_FLIGHT`."
    )


# Authentication and permissions


class Unauthorized(Fault):
    status = 401
    code = "UNAUTHORIZED"
    message = "Authentication is required."
    cause = "The request has no access token: no `Authorization: Bearer` header and no cookie."
    remedy = "Log in, and send the access token."


class TokenExpired(Fault):
    status = 401
    code = "TOKEN_EXPIRED"
    message = "The token has expired."
    cause = "The access token is genuine, but older than `ACCESS_TOKEN_TTL`."
    remedy = "Refresh the tokens, and repeat the request with the new access token."


class InvalidToken(Fault):
    status = 401
    code = "INVALID_TOKEN"
    message = "The token is not valid."
    cause = (
        "The access token was changed, was signed with an unknown key, or belongs to a session"
        " that has ended. In the login with a second factor: the `temp_token` is wrong, used or"
        " expired."
    )
    remedy = "Refresh the tokens. If that is refused too, or for a `temp_token`, log in again."


class InvalidRefreshToken(Fault):
    status = 401
    code = "INVALID_REFRESH_TOKEN"
    message = "The refresh token is not valid."
    cause = (
        "The refresh token is malformed, was used before, or belongs to a session that has"
        " expired or ended. Reuse after `REUSE_LEEWAY` ends the session, because the token may"
        " have been stolen."
    )
    remedy = (
        "Log in again. If several tabs share tokens, refresh in one of them only and use its new"
        " tokens in all."
    )


class Forbidden(Fault):
    status = 403
    code = "FORBIDDEN"
    message = "You do not have permission to do this."
    cause = (
        "The caller is not a super admin, changes access to the account of staff or of a superuser"
        " without being a superuser, or may not invite or create organizations"
        " (`INVITATION.WHO_MAY_INVITE`, `ORGANIZATION.WHO_MAY_CREATE`)."
    )
    remedy = (
        "Use an account with the rights. The refusal is in the audit log as `security.forbidden`."
    )


class ReauthenticationRequired(Fault):
    status = 403
    code = "REAUTHENTICATION_REQUIRED"
    message = "Confirm your password or log in again to do this."
    cause = (
        "The action needs the password in the request. Some routes accept a session that began at"
        " most 10 minutes ago instead, others only from users without a password. For routes of"
        " super admins: a second factor is required and the session began without one."
    )
    remedy = (
        "Send `password` with the request where the route takes it, or log in again, with the"
        " second factor."
    )


class InvalidCsrf(Fault):
    status = 403
    code = "INVALID_CSRF"
    message = "The CSRF token is missing, expired or not valid."
    cause = (
        "The request changes something, and its CSRF token is missing, expired or does not match"
        " the cookie, or its origin is not trusted."
    )
    remedy = (
        "Get a token from `GET /csrf-token` and send it in the header `CSRF.HEADER_NAME`. List"
        " the origin of the front end in `CSRF.TRUSTED_ORIGINS`."
    )


# Rate limits


class TooManyRequests(Fault):
    status = 429
    code = "TOO_MANY_REQUESTS"
    message = "Too many requests. Try again later."
    cause = (
        "The client or its network sent more requests than the rate limit of the route allows. Or"
        " the account has used up a limit of its own: five changed phone numbers, five requests to"
        " change the e-mail address or 50 invitations a day, or one export an hour."
    )
    remedy = (
        "Wait as long as `Retry-After` says. The operator changes limits with `THROTTLE.RATES`."
        " If all users are affected behind a proxy, set `TRUSTED_PROXIES`."
    )


class TooManyAttempts(Fault):
    status = 429
    code = "TOO_MANY_ATTEMPTS"
    message = "Too many attempts. Try again later."
    cause = (
        "Too many wrong passwords or codes for this identifier, account or challenge. Until the"
        " wait is over, the right one is refused too."
    )
    remedy = "Wait as long as `Retry-After` says, or reset the password."
