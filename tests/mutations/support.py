"""The support page of Django admin: its rights, its confirmation, and what it shows."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to

_HOST = "--ds=tests.audit.settings"
_INSIDE = "tests/staff_support/inside/"
_BUTTONS = (_HOST, _INSIDE + "test_buttons.py")
_RIGHTS = (_HOST, _INSIDE + "test_rights.py")

SUPPORT = (
    Mutation(
        "The staff and super admins, protected from support staff",
        CORE + "staff/support_actions.py",
        to("if not authority.may_support(by, present):", "if False:"),
        _RIGHTS,
    ),
    Mutation(
        "The other staff, protected from support staff",
        CORE + "staff/authority.py",
        to("not (person.is_super_admin or person.is_staff)", "not person.is_super_admin"),
        _RIGHTS,
    ),
    Mutation(
        "The confirmation of a button, which a GET request does not press",
        CORE + "admin/support_pages.py",
        to('if request.method == "POST":', 'if request.method in ("GET", "POST"):'),
        _BUTTONS,
    ),
    Mutation(
        "The lock of the user between two members of staff who press one button",
        CORE + "staff/support_actions.py",
        to(
            "present = super_admins.lock_user(pk, losing=losing)",
            "present = super_admins.read_locked(pk, {pk}, losing=False)",
        ),
        (_HOST, _INSIDE + "test_races.py"),
        database="postgres",
    ),
    Mutation(
        "The permission of a button",
        CORE + "admin/support_pages.py",
        to("if not self._may(request)(definition.permission):", "if False:"),
        _RIGHTS,
    ),
    Mutation(
        "The refusal of frames by a confirmation page",
        CORE + "admin/support_pages.py",
        to('response["X-Frame-Options"] = "DENY"', 'response["X-Other"] = "DENY"'),
        _BUTTONS,
    ),
    Mutation(
        "The login of staff and the cache header of the support page",
        CORE + "admin/support_pages.py",
        to("self.admin_site.admin_view(view)", "lambda *given, **more: view(*given, **more)"),
        _BUTTONS,
    ),
    Mutation(
        "The refusal of a button, recorded outside of the transaction of the request",
        CORE + "admin/support_pages.py",
        to("checked = transaction.non_atomic_requests(using=alias)(checked)", "pass"),
        _RIGHTS,
    ),
    Mutation(
        "The permission to see a part of the support page",
        CORE + "staff/support_actions.py",
        to(" if may(part.view)]", "]"),
        (_HOST, _INSIDE + "test_page.py"),
    ),
    Mutation(
        "The attempts at a user with the same address, which support staff must not reset",
        CORE + "credentials/lockout.py",
        to(
            "if person.email and person.account_row.email_key == person.email_key:",
            "if person.email:",
        ),
        _BUTTONS,
    ),
    Mutation(
        "The address that staff have seen before they mark it as verified",
        CORE + "staff/support_actions.py",
        to(" or (button.of_address and present.email != shown)", ""),
        _BUTTONS,
    ),
    Mutation(
        "The group of the project that has the name of the support group",
        CORE + "management/commands/authservice_support_group.py",
        to("if outcome.removed and not replace:", "if False:"),
        (_HOST, _INSIDE + "test_group.py"),
    ),
    Mutation(
        "The permissions that the support group loses",
        CORE + "management/commands/authservice_support_group.py",
        to("group.permissions.set([", "group.permissions.add(*["),
        (_HOST, _INSIDE + "test_group.py"),
    ),
    Mutation(
        "The permissions of the support group: no edit of accounts",
        CORE + "management/commands/authservice_support_group.py",
        to('    "authservice_core.view_session",\n', '    "authservice_core.change_account",\n'),
        (_HOST, _INSIDE + "test_group.py"),
    ),
    Mutation(
        "The confirmation of an action on a list",
        CORE + "staff/admin_lists.py",
        to("if request.POST.get(_CONFIRMED):", "if True:"),
        (_HOST, _INSIDE + "test_lists.py"),
    ),
    Mutation(
        "The secret of an authenticator app, never on the support page",
        "authservice/twofactor/support.py",
        to("        str(devices.count()),\n", "        authenticator.sealed_secret,\n"),
        (_HOST, _INSIDE + "test_page.py"),
    ),
)
