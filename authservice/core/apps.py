"""Django app of core, and the slots that it fills."""

from __future__ import annotations

from authservice.core.audit_actions import ACTIONS
from authservice.core.messages import kinds
from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class CoreConfig(modules.ModuleConfig):
    name = "authservice.core"
    label = "authservice_core"
    verbose_name = admin_text("Accounts and sessions")
    views = (
        "authservice.core.api.signup_views",
        "authservice.core.api.me_views",
        "authservice.core.api.account_views",
        "authservice.core.api.recovery_views",
        "authservice.core.api.step_up_views",
    )
    actions = ACTIONS
    awaited_messages = kinds.AWAITED
    message_builders = (
        "authservice.core.messages.security_notice.message_builders",
        "authservice.core.login.signup.message_builders",
        "authservice.core.own_account.email_change.message_builders",
        "authservice.core.own_account.deletion.message_builders",
    )

    def ready(self) -> None:
        from authservice.core import checks
        from authservice.core.login import host_hooks
        from authservice.core.staff import checks as admin_login_checks
        from authservice.core.users import lookup

        checks.connect()
        admin_login_checks.connect()
        lookup.connect()
        host_hooks.replace_receiver()
        # Without a login module in INSTALLED_APPS, stateless is the default. It is not an installed
        # app, so Django does not call its `ready`.
        if not modules.has_login_module():
            modules.default_login_module().ready()
