"""Django app of the passkeys module, and the slots that it fills."""

from __future__ import annotations

from importlib.util import find_spec

from django.core.exceptions import ImproperlyConfigured

from authservice.kernel import modules
from authservice.kernel.actions import ANYBODY, CRITICAL, SYSTEM, USER, WARNING, Action
from authservice.kernel.languages import admin_text


class PasskeysConfig(modules.ModuleConfig):
    name = "authservice.passkeys"
    label = "authservice_passkeys"
    verbose_name = admin_text("Passkeys")
    views = "authservice.passkeys.views"
    message_builders = "authservice.passkeys.own_passkeys.message_builders"
    second_factor = "authservice.passkeys.passkey_login.second_factor"
    account_access = "authservice.passkeys.passkey_login.account_access"
    support = "authservice.passkeys.support.support"

    actions = {
        "auth.passkey.added": Action(
            "A passkey was added.",
            actors=(USER, SYSTEM),
            when="A signed-in user adds a passkey, or an import adds one (actor `system`).",
        ),
        "auth.passkey.renamed": Action(
            "A passkey was renamed.", when="A user gives a passkey another name."
        ),
        "auth.passkey.factor_on": Action(
            "A passkey became a second factor.",
            when="A user has a passkey asked for after the password too.",
        ),
        "auth.passkey.factor_off": Action(
            "A passkey is no second factor any more.",
            WARNING,
            actors=(USER, SYSTEM),
            when="A user no longer has a passkey asked for after the password.",
        ),
        "auth.passkey.removed": Action(
            "A passkey was removed.",
            WARNING,
            actors=ANYBODY,
            when="A passkey is removed by its user, by staff, or by a recovery (`reason`).",
        ),
        "security.passkey.cloned": Action(
            "The counter of a security key fell back: there may be a copy of the key.",
            CRITICAL,
            when="A key that cannot be backed up signs with a counter that is not above the last"
            " one. The login is refused.",
        ),
        "security.passkey.counter": Action(
            "The counter of a passkey fell back.",
            WARNING,
            when="A passkey that can be backed up, and so may be on several devices, signs with a"
            " counter that is not above the last one. The login succeeds.",
        ),
    }

    def import_models(self) -> None:
        # Not a system check: without the package, every passkey would be refused only when it is
        # used. The package is imported with the first signature, see `relying_party`.
        if find_spec("webauthn") is None:
            raise ImproperlyConfigured(
                "authservice.passkeys requires webauthn: pip install 'authservice[passkeys]'"
            )
        super().import_models()

    def ready(self) -> None:
        from authservice.passkeys import checks

        checks.connect()
