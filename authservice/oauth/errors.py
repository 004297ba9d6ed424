"""The errors of this module. Their texts are fixed: nothing that a provider sent is repeated."""

from __future__ import annotations

from authservice.kernel.errors import Fault
from authservice.kernel.languages import phrase


class ProviderNotFound(Fault):
    status = 404
    code = "OAUTH_PROVIDER_NOT_FOUND"
    message = "This provider is not configured."
    cause = "`OAUTH.PROVIDERS` has no provider with this name."
    remedy = "Use a name that `GET /oauth/providers` lists."


class ProviderDisabled(Fault):
    code = "OAUTH_PROVIDER_DISABLED"
    message = "This provider is disabled."
    cause = "`ENABLED` of the provider is false."
    remedy = "Log in in another way. The operator sets `ENABLED` in `OAUTH.PROVIDERS`."


class InvalidState(Fault):
    code = "OAUTH_INVALID_STATE"
    message = "This login was not started in this browser."
    cause = (
        "The callback has no `state`, or one that was issued to another browser or for another"
        " provider. For linking: the user has logged out or changed since the start."
    )
    remedy = "Start again with `GET /oauth/{provider}`, in the same browser and with cookies."


class StateExpired(Fault):
    code = "OAUTH_STATE_EXPIRED"
    message = "The login took too long."
    cause = "More time than `OAUTH.STATE_TTL` has passed between the start and the callback."
    remedy = "Start again with `GET /oauth/{provider}`."


class StateUsed(Fault):
    code = "OAUTH_STATE_USED"
    message = "This login has been completed already."
    cause = "The callback was called twice, for example because its page was reloaded."
    remedy = "Start again with `GET /oauth/{provider}`."


_NO_ANSWER = phrase("The provider does not answer. Try again later, or use another way to log in.")


class ProviderRefused(Fault):
    code = "OAUTH_PROVIDER_ERROR"
    message = "The provider refused the login, or the user cancelled it."
    cause = (
        "The provider redirected with an error: the user cancelled, or the client is not registered"
        " as it should be. If it does not answer at the start, the message says so."
    )
    remedy = "Start again. If it fails again, the operator finds the reason in the log."


def provider_unreachable() -> ProviderRefused:
    return ProviderRefused(_NO_ANSWER)


class TokenExchangeRefused(Fault):
    code = "OAUTH_TOKEN_EXCHANGE_FAILED"
    message = "The provider did not accept the login."
    cause = (
        "The provider refused the code, its token endpoint did not answer in time, its ID token is"
        " not valid, or too many requests to it were in flight."
    )
    remedy = (
        "Start again. If it fails again, the operator reads the log, and checks client id, secret,"
        " callback address and `OUTBOUND.IN_FLIGHT`."
    )


class UserInfoUnavailable(Fault):
    code = "OAUTH_USER_INFO_FAILED"
    message = "The provider did not say who the user is."
    cause = "The profile could not be read, or has no identifier."
    remedy = "Start again. If it fails again, the operator checks the scopes of the provider."


class EmailRequired(Fault):
    code = "OAUTH_EMAIL_REQUIRED"
    message = "The provider gave no e-mail address that can be used."
    cause = (
        "A new user has no e-mail address at the provider, or did not share it. With"
        ' `CORE.SIGNUP_ENUMERATION = "hide"` also an address that the provider has not verified.'
    )
    remedy = "Share a verified address with the service at the provider, or sign up without it."


class SignupByProviderDisabled(Fault):
    status = 403
    code = "OAUTH_SIGNUP_DISABLED"
    message = "There is no account for this user, and none can be created."
    cause = "`OAUTH.ALLOW_SIGNUP` or `CORE.ALLOW_SIGNUP` is off."
    remedy = "Log in with an existing account and link the provider there."


class AccountLinkingDisabled(Fault):
    status = 403
    code = "OAUTH_ACCOUNT_LINKING_DISABLED"
    message = "An account with this e-mail address exists, and is not linked to this provider."
    cause = (
        "`OAUTH.ALLOW_ACCOUNT_LINKING` or `LINK_BY_EMAIL` of the provider is off, or the account is"
        " that of staff, a superuser or a super admin, which is never linked by its address."
    )
    remedy = "Log in to the account in another way and link the provider there."


class EmailTaken(Fault):
    status = 409
    code = "OAUTH_EMAIL_EXISTS"
    message = "An account with this e-mail address exists, and is not linked to this provider."
    cause = (
        "The provider has not verified the address, or `OAUTH.TRUST_EMAIL_VERIFICATION` is off."
        " Linking would let anybody into the account who enters its address at the provider. Also"
        " if this user of the provider was removed from the account, and for 72 hours after a"
        ' password reset or a "this was not me".'
    )
    remedy = "Log in to the account in another way and link the provider there."


class AlreadyLinked(Fault):
    status = 409
    code = "OAUTH_ALREADY_LINKED"
    message = "This account or this user of the provider is linked already."
    cause = (
        "The user of the provider is linked to another account, or the account to another user of"
        " the provider."
    )
    remedy = "Unlink the other one first."


class NotLinked(Fault):
    code = "OAUTH_NOT_LINKED"
    message = "This provider is not linked to the account."
    cause = "The account has no link to the provider."
    remedy = "List the linked providers with `GET /oauth/linked`."


class LastLoginMethod(Fault):
    code = "OAUTH_LAST_LOGIN_METHOD"
    message = "The last way to log in cannot be removed."
    cause = "The account has no password, no other linked provider and no other way to log in."
    remedy = "Set a password or link another provider first."
