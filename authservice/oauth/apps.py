"""App configuration of the oauth module, and the slots that it fills."""

from __future__ import annotations

from authservice import signals
from authservice.kernel import modules
from authservice.kernel.actions import ANYBODY, SYSTEM, USER, Action
from authservice.kernel.languages import admin_text


class OAuthConfig(modules.ModuleConfig):
    name = "authservice.oauth"
    label = "authservice_oauth"
    verbose_name = admin_text("Social login")
    views = "authservice.oauth.views"
    message_builders = "authservice.oauth.linking.message_builders"
    account_access = "authservice.oauth.linking.account_access"
    expired_rows = "authservice.oauth.eviction.expired_rows"
    support = "authservice.oauth.support.support"
    examinations = ("authservice.oauth.examinations.examine_providers",)

    actions = {
        "auth.oauth.linked": Action(
            "An identity provider was linked.",
            actors=(USER, SYSTEM),
            when="A provider is linked: at sign-up, by its verified address, by the signed-in user,"
            " or by an import (actor `system`).",
            signal=signals.provider_linked,
        ),
        "auth.oauth.unlinked": Action(
            "An identity provider was unlinked.",
            actors=ANYBODY,
            when="A link is removed by its user, by staff, or by a recovery (actor `system`).",
            signal=signals.provider_unlinked,
        ),
    }

    def ready(self) -> None:
        from authservice.oauth import checks

        checks.connect()
