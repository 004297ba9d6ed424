"""Links of social-auth-app-django: its model `UserSocialAuth`.

By the back ends of social-auth-core, `uid` is the `id` of the profile with OAuth 2.0 and `sub` with
OpenID Connect, unless the setting `ID_KEY` names another member. Since version 6 the rows say in
`id_key` which member it was. Before, `google-oauth2` stored the e-mail address and `azuread-oauth2`
the `upn`: neither is stable. Other back ends of Azure AD store `sub`, which differs for each
application, and `slack` a user id without its workspace.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.utils.module_loading import import_string

from authservice.oauth import claims as read
from authservice.oauth.importing.rows import Row, server_of

_SERVERS = {
    "github": "github.com",
    "github-org": "github.com",
    "github-team": "github.com",
    "gitlab": "gitlab.com",
}
_SERVER_SETTINGS = ("OIDC_ENDPOINT", "URL", "API_URL")


class SocialDjangoRows:
    package = "social-auth-app-django"
    app = "social_django"
    reads: Collection[str] = ("social_django.UserSocialAuth",)
    added_field = "created"
    names: Mapping[str, str] = {
        "apple-id": "apple",
        "discord": "discord",
        "facebook": "facebook",
        "github": "github",
        "github-org": "github",
        "github-team": "github",
        "gitlab": "gitlab",
        "google-oauth2": "google",
        "google-onetap": "google",
        "google-openidconnect": "google",
        "linkedin-openidconnect": "linkedin",
        "microsoft-graph": "microsoft",
        # Their identifiers never have the right form; with a name here, the report says so.
        "azuread-oauth2": "microsoft",
        "azuread-oauth2-v2": "microsoft",
        "azuread-tenant-oauth2": "microsoft",
        "azuread-v2-tenant-oauth2": "microsoft",
        "slack": "slack",
    }

    def model(self) -> type[Model]:
        return apps.get_app_config("social_django").get_model("UserSocialAuth")

    def read(self, row: Any) -> Row:
        return Row(
            pk=row.pk,
            user_id=row.user_id,
            provider=row.provider,
            uid=row.uid,
            # Versions before 7 of the package have no such field.
            claim=getattr(row, "id_key", "") or _setting(row.provider, "ID_KEY"),
            email=read.text(read.mapping(row.extra_data).get("email")),
            added_at=row.created,
        )

    def servers(self, provider: str) -> Collection[str]:
        given = filter(None, (_setting(provider, name) for name in _SERVER_SETTINGS))
        known = next(given, "") or _SERVERS.get(provider, "")
        return {server_of(known)} if known else set()

    def clients(self, provider: str) -> Collection[str]:
        known = _setting(provider, "TEAM" if provider == "apple-id" else "KEY")
        return {known} if known else set()

    def is_own(self, provider: str) -> bool:
        backends = [import_string(path) for path in settings.AUTHENTICATION_BACKENDS]
        named = [one for one in backends if getattr(one, "name", "") == provider]
        return any(not one.__module__.startswith("social_core.") for one in named)

    def problem(self, provider: str) -> str:
        return ""


def _setting(provider: str, name: str) -> str:
    """A setting as social-auth-core reads it: that of the back end, or else that of all."""
    prefix = provider.upper().replace("-", "_")
    for one in (f"SOCIAL_AUTH_{prefix}_{name}", f"SOCIAL_AUTH_{name}", name):
        if hasattr(settings, one):
            return str(getattr(settings, one) or "")
    return ""
