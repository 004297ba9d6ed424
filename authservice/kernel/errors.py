"""The error catalogue: status, code and message of every error the API can return.

Rules raise a `Fault` and the HTTP layer renders it; no other code builds an error response. Codes
are public API.
"""

from __future__ import annotations

from authservice.kernel.faults import Fault as Fault
from authservice.kernel.faults import catalogue as catalogue

# The request


class ValidationFailed(Fault):
    code = "VALIDATION_ERROR"
    message = "The request is not valid."


def invalid(field: str, rule: str) -> ValidationFailed:
    """A validation error that names the field and the rule."""
    return ValidationFailed(f"{field}: {rule}", details={field: [rule]})


class InvalidJSON(Fault):
    code = "INVALID_JSON"
    message = "The body is not valid JSON."


class InvalidRequestBody(Fault):
    code = "INVALID_REQUEST_BODY"
    message = "The body must be a JSON object."


class RequestTooLarge(Fault):
    status = 413
    code = "REQUEST_TOO_LARGE"
    message = "The body must not exceed 64 KiB."


class UnsupportedMediaType(Fault):
    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"
    message = "The body must be sent as application/json in UTF-8."


class NotFound(Fault):
    status = 404
    code = "NOT_FOUND"
    message = "This path does not exist."


class MethodNotAllowed(Fault):
    status = 405
    code = "METHOD_NOT_ALLOWED"
    message = "This path does not support the method."


class InternalError(Fault):
    status = 500
    code = "INTERNAL_ERROR"
    message = "An internal error occurred."


class ServiceUnavailable(Fault):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    headers = {"Retry-After": "2"}
    message = "The service is temporarily unavailable. Try again later."


# Authentication and permissions


class Unauthorized(Fault):
    status = 401
    code = "UNAUTHORIZED"
    message = "Authentication is required."


class TokenExpired(Fault):
    status = 401
    code = "TOKEN_EXPIRED"
    message = "The token has expired."


class InvalidToken(Fault):
    status = 401
    code = "INVALID_TOKEN"
    message = "The token is not valid."


class InvalidRefreshToken(Fault):
    status = 401
    code = "INVALID_REFRESH_TOKEN"
    message = "The refresh token is not valid."


class SessionNotFound(Fault):
    status = 404
    code = "SESSION_NOT_FOUND"
    message = "The session does not exist."


class Forbidden(Fault):
    status = 403
    code = "FORBIDDEN"
    message = "You do not have permission to do this."


class ReauthenticationRequired(Fault):
    status = 403
    code = "REAUTHENTICATION_REQUIRED"
    message = "Confirm your password or log in again to do this."


class InvalidCsrf(Fault):
    status = 403
    code = "INVALID_CSRF"
    message = "The CSRF token is missing, expired or not valid."


# Rate limits


class TooManyRequests(Fault):
    status = 429
    code = "TOO_MANY_REQUESTS"
    message = "Too many requests. Try again later."


class TooManyAttempts(Fault):
    status = 429
    code = "TOO_MANY_ATTEMPTS"
    message = "Too many attempts. Try again later."


# Login, signup and users


class InvalidCredentials(Fault):
    status = 401
    code = "INVALID_CREDENTIALS"
    message = "The credentials are not valid."


class UserNotActive(Fault):
    status = 403
    code = "USER_NOT_ACTIVE"
    message = "This account is not active."


class UserNotFound(Fault):
    status = 404
    code = "USER_NOT_FOUND"
    message = "The user does not exist."


class EmailNotVerified(Fault):
    status = 403
    code = "EMAIL_NOT_VERIFIED"
    message = "The e-mail address has not been verified yet."


class PhoneNotVerified(Fault):
    status = 403
    code = "PHONE_NOT_VERIFIED"
    message = "The phone number has not been verified yet."


class SignupDisabled(Fault):
    status = 403
    code = "SIGNUP_DISABLED"
    message = "Signup is disabled."


class UserAlreadyExists(Fault):
    code = "USER_ALREADY_EXISTS"
    message = "An account with this email already exists."


class UsernameAlreadyExists(Fault):
    code = "USERNAME_ALREADY_EXISTS"
    message = "This username is already in use."


class PhoneAlreadyInUse(Fault):
    code = "PHONE_ALREADY_IN_USE"
    message = "This phone number is already in use."


class LastSuperAdmin(Fault):
    code = "LAST_SUPER_ADMIN"
    message = "The last active super admin cannot be removed, suspended or demoted."


class CannotModifySelf(Fault):
    code = "CANNOT_MODIFY_SELF"
    message = "You cannot suspend or delete your own account."


class UserInUse(Fault):
    status = 409
    code = "USER_IN_USE"
    message = "The user cannot be deleted: other records still reference it."


class InvalidPassword(Fault):
    code = "INVALID_PASSWORD"
    message = "The password does not meet the password policy."


# One-time tokens and codes


class InvalidLink(Fault):
    code = "INVALID_TOKEN"
    message = "The link is not valid."


class LinkExpired(Fault):
    code = "TOKEN_EXPIRED"
    message = "The link has expired."


class InvalidVerificationToken(Fault):
    code = "INVALID_VERIFICATION_TOKEN"
    message = "The verification link is not valid."


class VerificationTokenExpired(Fault):
    code = "VERIFICATION_TOKEN_EXPIRED"
    message = "The verification link has expired."


class InvalidVerificationCode(Fault):
    code = "INVALID_VERIFICATION_CODE"
    message = "The code is not valid."


# Second factors


class TwoFactorInvalid(Fault):
    code = "TWO_FACTOR_INVALID"
    message = "The code is not valid."


class TwoFactorRefused(Fault):
    """The same code with status 401: the second factor of a login was wrong."""

    status = 401
    code = "TWO_FACTOR_INVALID"
    message = "The code is not valid."


class TwoFactorNotEnabled(Fault):
    code = "TWO_FACTOR_NOT_ENABLED"
    message = "Two-factor authentication is not enabled."


class TwoFactorAlreadyEnabled(Fault):
    code = "TWO_FACTOR_ALREADY_ENABLED"
    message = "Two-factor authentication is already enabled."


# Channels that are not configured


class EmailNotConfigured(Fault):
    status = 501
    code = "EMAIL_NOT_CONFIGURED"
    message = "E-mail is not configured on this service."


class SmsNotConfigured(Fault):
    status = 501
    code = "SMS_NOT_CONFIGURED"
    message = "SMS is not configured on this service."
