"""Management of users, and the audit log."""

from __future__ import annotations

from authservice.openapi.texts.text import Text

_ADMIN = """
    Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403 `REAUTHENTICATION_REQUIRED`:
    the service requires a second factor of super admins, and this session began without one; log in
    again.
    """
_OF_STAFF = """
    Staff and superusers of the project can be changed only by superusers of the project (403
    `FORBIDDEN`).
    """
_PAGE = """
    Lists come page by page: `offset`, `limit` (20, at most 100), `sort_field` and `sort_dir`.
    """
_FILTERS = """
    Filters are `action` (an action, a first part such as `auth.password`, or a prefix such as
    `auth.log*`), `severity`, `actor_id`, `target_id`, and `from` and `to` in ISO 8601. Above 10,000
    entries `total` is a lower bound: read on while pages are full.
    """
_ENTRIES = "One page of entries, newest first unless sorted otherwise, and their `total`."

TEXTS = {
    "getAdminUsers": Text(
        f"""
    The users of the service. Filters can be combined: `query` (a part of a name, an address or a
    username), `active`, `email_verified`, `is_super_admin`, and times in ISO 8601. With more than
    100,000 users `total` may be a lower bound: read on while pages are full.
    {_PAGE}{_ADMIN}"""
    ),
    "createAdminUser": Text(
        f"""
    Creates a user without a password, who is mailed a link to set one. The link is valid for seven
    days, and using it proves the address.

    `USER_ALREADY_EXISTS`, `USERNAME_ALREADY_EXISTS` and `PHONE_ALREADY_IN_USE` say what is taken.
    501 `EMAIL_NOT_CONFIGURED`: the service sends no mail.
    {_ADMIN}""",
        "The new user, who was mailed a link to set a password.",
    ),
    "getAdminUser": Text(
        f"""
    One user, with the fields of `GET /me`, `is_super_admin` and `token_version`. 404
    `USER_NOT_FOUND`: there is no such user.
    {_ADMIN}"""
    ),
    "updateAdminUser": Text(
        f"""
    Changes the fields that are sent; `null` means omitted, `""` clears names, avatar and phone
    number. A changed address or number is unverified unless the same request sets its flag. A
    changed address and `active: false` end all sessions of the user. The user is mailed about a
    changed address or number.

    400 `LAST_SUPER_ADMIN`: the service would have no super admin left. 400 `CANNOT_MODIFY_SELF`:
    super admins cannot suspend themselves. {_OF_STAFF.strip()}
    {_ADMIN}""",
        "A `message`, and the user after the change.",
    ),
    "deleteAdminUser": Text(
        f"""
    Deletes a user with all data that the service stores about them, permanently. Ask for a
    confirmation before; a suspension can be undone.

    409 `USER_IN_USE`: other data of the project needs the user. 400 `LAST_SUPER_ADMIN` and
    `CANNOT_MODIFY_SELF`: this user must stay. {_OF_STAFF.strip()}
    {_ADMIN}""",
        "The user was deleted.",
    ),
    "adminSuspend": Text(
        f"""
    Ends all sessions of the user, who cannot log in any more. The data stays. It is undone by
    `POST /admin/users/{{user_id}}/reactivate`, but tokens from before remain refused.

    400 `LAST_SUPER_ADMIN` and `CANNOT_MODIFY_SELF`: this user must stay active.
    {_OF_STAFF.strip()}
    {_ADMIN}""",
        "The user is suspended, and all sessions have ended.",
    ),
    "adminReactivate": Text(
        f"""
    Lets a suspended user log in again, with the same password and second factor. Earlier sessions
    stay ended. {_OF_STAFF.strip()}
    {_ADMIN}""",
        "The user is active.",
    ),
    "adminLogout": Text(
        f"""
    Ends all sessions of the user, for example after a device was lost. The password stays valid;
    use `POST /admin/users/{{user_id}}/reset-password` too if it may be known to others.
    {_ADMIN}""",
        "All sessions of the user have ended.",
    ),
    "adminResetPassword": Text(
        f"""
    Mails the user a link to set a new password, which is valid for an hour. The old password works
    until it is used.

    403 `USER_NOT_ACTIVE`: the user is suspended. 400 `VALIDATION_ERROR`: the user has no address.
    501 `EMAIL_NOT_CONFIGURED`: the service sends no mail.
    {_ADMIN}""",
        "The link was mailed.",
    ),
    "getAudit": Text(
        f"""
    All entries of the audit log.
    {_FILTERS}{_PAGE}{_ADMIN}""",
        _ENTRIES,
    ),
    "getUserAudit": Text(
        f"""
    The entries whose actor or target is the user, also after the user was deleted.
    {_FILTERS}{_PAGE}{_ADMIN}""",
        _ENTRIES,
    ),
    "getActionAudit": Text(
        f"""
    The entries of an action, which the path names as the filter `action` does.
    {_FILTERS}{_PAGE}{_ADMIN}""",
        _ENTRIES,
    ),
    "cleanUpAudit": Text(
        f"""
    Deletes the entries whose retention has ended, at most as many as the service allows for each
    request. If `deleted` is that number, send the request again. A daily command does the same.
    {_ADMIN}""",
        "A `message`, and the number of deleted entries in `deleted`.",
    ),
    "getMyAudit": Text(
        f"""
    What happened to the account of the signed-in user: the entries whose actor or target the user
    is. If another person was the actor, address and client are empty.
    {_PAGE}""",
        _ENTRIES,
    ),
    "getMyAuditLogins": Text(
        f"""
    Logins, refused logins, logouts and tokens of the signed-in user, for a page "Recent activity".
    {_PAGE}""",
        _ENTRIES,
    ),
    "getMyAuditChanges": Text(
        f"""
    Changes of the account of the signed-in user, such as another name, address or number.
    {_PAGE}""",
        _ENTRIES,
    ),
    "getMyAuditSecurity": Text(
        f"""
    Second factors, passwords, ended sessions and limits of the signed-in user.
    {_PAGE}""",
        _ENTRIES,
    ),
}
