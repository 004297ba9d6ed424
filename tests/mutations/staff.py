"""The rights of staff, and the login of Django admin."""

from __future__ import annotations

from tests.mutations.kinds import Mutation, to, without

_ADMIN = "--ds=tests.admin.settings"
_INSIDE = "tests/admin/inside"

STAFF = (
    Mutation(
        "The accounts of staff, protected from super admins of the API",
        "authservice/core/staff/authority.py",
        to("if _GUARDED.intersection(fields):", "if False:"),
        ("tests/admin_api/test_superusers.py",),
    ),
    Mutation(
        "The accounts of staff, protected from deletion by super admins of the API",
        "authservice/core/staff/create_and_delete.py",
        without("            authority.require_over_account(editor.user, present)\n"),
        ("tests/admin_api/test_superusers.py",),
    ),
    Mutation(
        "The rights of a super admin, checked again under the lock",
        "authservice/core/staff/authority.py",
        to("if not editor.is_super_admin:", "if False:"),
        ("tests/admin_api/test_in_flight.py",),
    ),
    Mutation(
        "The second factor that admin routes require",
        "authservice/core/sessions/bearer.py",
        to("factor.is_required(self.person)", "False"),
        ("tests/admin_api/test_second_factor.py",),
    ),
    Mutation(
        "The super admins, protected from other staff in Django admin",
        "authservice/core/staff/authority.py",
        to("return is_superuser(by) or not person.is_super_admin", "return True"),
        (_ADMIN, f"{_INSIDE}/test_super_admins.py"),
    ),
    Mutation(
        "The second factor at the login of Django admin",
        "authservice/core/staff/admin_login.py",
        without("    _require_second_factor(person, code, client)\n"),
        (_ADMIN, f"{_INSIDE}/test_login.py"),
    ),
    Mutation(
        "The end of a session of Django admin with all sessions of its user",
        "authservice/core/staff/admin_site.py",
        to("admin_login.has_ended(request)", "False"),
        (_ADMIN, f"{_INSIDE}/test_sessions.py"),
    ),
    Mutation(
        "The end of a session of Django admin from before the upgrade",
        "authservice/core/staff/admin_login.py",
        to("get(_VERSIONS, _FIRST)", "get(_VERSIONS, getattr(request, _VERSIONS))"),
        (_ADMIN, f"{_INSIDE}/test_sessions.py"),
    ),
    Mutation(
        "The ended session of Django admin, which a login of the API does not reopen",
        "authservice/core/staff/admin_login.py",
        to('getattr(request, "user", user) is user\n', "True\n"),
        (_ADMIN, f"{_INSIDE}/test_sessions.py"),
    ),
    Mutation(
        "The ended session of Django admin, which another package does not reopen",
        "authservice/core/staff/admin_login.py",
        to('getattr(getattr(request, "session", None), "modified", False)', "True"),
        (_ADMIN, f"{_INSIDE}/test_sessions.py"),
    ),
    Mutation(
        "The versions that the login of Django admin has read with the password",
        "authservice/core/staff/admin_login.py",
        to("versions_at_login or _current_versions(user.pk)", "_current_versions(user.pk)"),
        (_ADMIN, f"{_INSIDE}/test_sessions.py"),
    ),
    Mutation(
        "The ended session of Django admin, refused in views of the host",
        "authservice/core/api/identity.py",
        to("if not (stores and admin_login.has_ended(request)):", "if True:"),
        (_ADMIN, f"{_INSIDE}/test_host_sessions.py"),
    ),
    Mutation(
        "The fields by which lists in Django admin are filtered",
        "authservice/core/staff/admin_lists.py",
        to("return lookup in self.exact_lookups or any(", "return bool(declared) or any("),
        (_ADMIN, f"{_INSIDE}/test_filters.py"),
    ),
    Mutation(
        "The lookups that no filter of a list in Django admin uses",
        "authservice/core/staff/admin_lists.py",
        to('lookup == f"{name}{suffix}" for', 'f"{lookup}__".startswith(f"{name}__") for'),
        (_ADMIN, f"{_INSIDE}/test_filters.py"),
    ),
    Mutation(
        "The audit entry of a one-time token that staff delete",
        "authservice/core/admin/service_rows.py",
        without(
            "                events.record_by_staff(_REVOKED, by, token.user, client, **details)\n"
        ),
        ("--ds=tests.audit.settings", "tests/audit/inside/test_django_admin.py"),
    ),
    Mutation(
        "The source of a number that staff set",
        "authservice/core/staff/update_user.py",
        without("    account.phone_set_by = PhoneSource.STAFF\n"),
        ("tests/admin_api/test_notices.py",),
    ),
    Mutation(
        "The proof of an address whose verification staff take back",
        "authservice/core/staff/update_user.py",
        without('        account.proven_email_key = ""\n'),
        ("tests/admin_api/test_change.py",),
    ),
    Mutation(
        "The verification of a number that staff set again",
        "authservice/core/staff/update_user.py",
        without("            account.verified_phone_key = None\n"),
        (_ADMIN, f"{_INSIDE}/test_notices.py"),
    ),
    Mutation(
        "The address to which a change by staff is mailed",
        "authservice/core/staff/update_user.py",
        to('person.email if person.email_proven else ""', "person.email"),
        ("tests/admin_api/test_notices.py",),
    ),
    Mutation(
        "The mail about a change by staff, rendered from the job of a queue",
        "authservice/notification/mail.py",
        to("_presented(name, entry) for", "entry.items() for"),
        ("tests/notification/test_changed_by_staff.py",),
    ),
    Mutation(
        "The rights of users, read-only for other staff in Django admin",
        "authservice/core/staff/admin_pages.py",
        to(
            "() if authority.is_superuser(request.user) else authority.rights_fields(self.model)",
            "()",
        ),
        (_ADMIN, f"{_INSIDE}/test_rights.py"),
    ),
    Mutation(
        "The rights that a list or an inline of the project changes",
        "authservice/core/staff/admin_pages.py",
        to("if changed and not authority.is_superuser(request.user):", "if False:"),
        (_ADMIN, f"{_INSIDE}/test_rights.py"),
    ),
    Mutation(
        "The super admins, protected from other staff in a list of Django admin",
        "authservice/core/staff/admin_pages.py",
        to("if change and not may_change(request, stored):", "if False:"),
        (_ADMIN, f"{_INSIDE}/test_rights.py"),
        below=(6, 1),  # its lists leave out the rows that a member of staff may not change
    ),
    Mutation(
        "The audit entry of changed rights",
        "authservice/core/staff/admin_pages.py",
        to(
            "authority.record_rights(changed, user, by=request.user, client=of_page(request))",
            "pass",
        ),
        (_ADMIN, f"{_INSIDE}/test_rights.py"),
    ),
    Mutation(
        "The warning about a page of users without the guard",
        "authservice/core/staff/checks.py",
        to(" and GUARD not in _names(type(page))", " and False"),
        (_ADMIN, f"{_INSIDE}/test_checks.py"),
    ),
    Mutation(
        "The warning about login views of other packages",
        "authservice/core/staff/checks.py",
        to("any(map(pattern.fullmatch, names)) and", "False and"),
        ("tests/coming_from/inside/test_login_views.py", "--ds=tests.coming_from.settings"),
    ),
    Mutation(
        "The protection of the own password in Django admin",
        "authservice/core/staff/admin_site.py",
        to("site.password_change = MethodType(_password_change, site)", "pass"),
        (_ADMIN, f"{_INSIDE}/test_own_password.py"),
    ),
    Mutation(
        "The attempts at the own password in Django admin, counted",
        "authservice/core/staff/password_form.py",
        to(
            "        recent_proof.check_password(person, old, client, method=METHOD)\n",
            "        if not person.user.check_password(old.reveal()):\n"
            "            raise errors.InvalidCredentials\n",
        ),
        (_ADMIN, f"{_INSIDE}/test_own_password.py"),
    ),
    Mutation(
        "The audit entry of a wrong own password in Django admin",
        "authservice/core/staff/password_form.py",
        without(
            '        events.record("auth.password.change_failed", person, client, method=METHOD)\n'
        ),
        (_ADMIN, f"{_INSIDE}/test_own_password.py"),
    ),
    Mutation(
        "The own password in Django admin, compared again under the lock",
        "authservice/core/staff/password_form.py",
        to(" or present.password != person.password", ""),
        (_ADMIN, f"{_INSIDE}/test_own_password.py"),
    ),
    Mutation(
        "The devices that a change of the own password in Django admin revokes",
        "authservice/core/staff/password_form.py",
        without("        lockout.revoke_devices(present)\n"),
        (_ADMIN, f"{_INSIDE}/test_own_password.py"),
    ),
    Mutation(
        "The own password in Django admin, stored as the API reads it",
        "authservice/core/staff/login_form.py",
        to('unicodedata.normalize("NFC", password)', "password"),
        (_ADMIN, f"{_INSIDE}/test_own_password.py"),
    ),
)
