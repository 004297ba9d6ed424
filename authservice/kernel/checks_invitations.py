"""System checks of invitations and organizations: cause and remedy of each id."""

from __future__ import annotations

from collections.abc import Mapping

CHECKS: Mapping[str, tuple[str, str]] = {
    # Invitations
    "authservice.W180": (
        "'authservice.invitation' is installed without an app that sends e-mails, so no invitation"
        " is ever sent.",
        "Add 'authservice.notification' to INSTALLED_APPS.",
    ),
    "authservice.E181": (
        "INVITATION.TTL must be positive: every invitation has expired before it is sent.",
        "Remove it to use 7 days, or set a positive duration.",
    ),
    "authservice.E182": (
        "INVITATION.KEPT must not be negative: the cleanup would delete pending invitations.",
        "Remove it to use 90 days, or set a duration of 0 or more.",
    ),
    "authservice.E183": (
        "INVITATION.MAX_PENDING_PER_EMAIL must not be negative.",
        "Set it to 0 for no limit, or to a positive number.",
    ),
    "authservice.E184": (
        "INVITATION.ALLOWED_PURPOSES contains a value that no request can send.",
        "Use texts of 1 to 64 characters without surrounding white space.",
    ),
    "authservice.W185": (
        "CORE.REQUIRE_PHONE_VERIFICATION refuses the login of accounts without a phone number, so"
        " an invited address without an account cannot accept.",
        "Turn it off, or invite only addresses that have an account with a verified number.",
    ),
    "authservice.E186": (
        "INVITATION.WHO_MAY_INVITE names no function.",
        "Use everyone, super_admins, or the dotted path of a function that takes a user and is"
        " not async.",
    ),
    # Organizations
    "authservice.E190": (
        "ORGANIZATION.MAX_MEMBERS or ORGANIZATION.MAX_PER_USER is negative.",
        "Use 0 for no limit, or a positive number.",
    ),
    "authservice.E191": (
        "ORGANIZATION.INVITATION_TTL must be positive: every invitation has expired when it is"
        " sent.",
        "Remove it to use 7 days, or set a positive duration.",
    ),
    "authservice.E192": (
        "ORGANIZATION.AUTO_CREATE_NAME is not a name with at most the placeholder {name}. The"
        " sign-up of a user whose organization cannot be named fails.",
        'Use a text such as "{name}\'s organization".',
    ),
    "authservice.E193": (
        "ORGANIZATION.INVITATIONS_KEPT must not be negative: the cleanup would delete pending"
        " invitations.",
        "Remove it to use 90 days, or set a duration of 0 or more.",
    ),
    "authservice.W194": (
        "'authservice.organization' is installed without an app that sends e-mails, so nobody can"
        " be invited to an organization.",
        "Add 'authservice.notification' to INSTALLED_APPS.",
    ),
    "authservice.E195": (
        "ORGANIZATION.WHO_MAY_CREATE names no function.",
        "Use everyone, super_admins, or the dotted path of a function that takes a user and is"
        " not async.",
    ),
}
