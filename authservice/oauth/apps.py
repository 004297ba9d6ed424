"""App configuration of the oauth module, and the slots that it fills."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.phrases import admin_text


class OAuthConfig(modules.ModuleConfig):
    name = "authservice.oauth"
    label = "authservice_oauth"
    verbose_name = admin_text("Social login")
    urls = "authservice.oauth.urls"
    message_builders = "authservice.oauth.messages.message_builders"
    revoke_unverified_access = "authservice.oauth.eviction.revoke_unverified"
    revoke_recent_access = "authservice.oauth.eviction.revoke_recent"
    distrust_earlier_access = "authservice.oauth.eviction.distrust_earlier"
    chosen_session_store = "authservice.oauth.storage.session_store"
    restore_access = "authservice.oauth.eviction.restore"
    import_sources = "authservice.oauth.importing.sources.import_sources"
    support = "authservice.oauth.support.support"

    def ready(self) -> None:
        from authservice.oauth import checks

        checks.connect()
