"""Links of django-allauth: the model `SocialAccount` of `allauth.socialaccount`.

Its providers store as `uid` what this module uses as the subject; that of Slack has another
separator. There are two exceptions: `linkedin_oauth2` stores the id of an interface that LinkedIn
has shut down, and OpenID Connect stores the claim that `uid_field` names (`sub` by default).
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

_OPENID = "openid_connect"
# The key of the server in the settings of an app or of the provider, and the default.
_SERVERS = {"github": ("github_url", "github.com"), "gitlab": ("gitlab_url", "gitlab.com")}


class AllauthRows:
    package = "django-allauth"
    app = "allauth.socialaccount"
    reads: Collection[str] = ("socialaccount.SocialAccount",)
    added_field = "date_joined"
    names: Mapping[str, str] = {
        "apple": "apple",
        "discord": "discord",
        "facebook": "facebook",
        "github": "github",
        "gitlab": "gitlab",
        "google": "google",
        "microsoft": "microsoft",
        "slack": "slack",
    }

    def model(self) -> type[Model]:
        return apps.get_app_config("socialaccount").get_model("SocialAccount")

    def read(self, row: Any) -> Row:
        return Row(
            pk=row.pk,
            user_id=row.user_id,
            provider=row.provider,
            uid=row.uid,
            claim="",
            email=_email(row.extra_data),
            added_at=row.date_joined,
        )

    def servers(self, provider: str) -> Collection[str]:
        found = _apps(provider)
        if not found:
            return {server_of(_server(provider, {}))} if provider in _SERVERS else set()
        known = (_server(app.provider, app.settings or {}) for app in found)
        return {server_of(address) for address in known if address}

    def clients(self, provider: str) -> Collection[str]:
        # Apple's team is the `key` of the app.
        found = _apps(provider)
        return {app.key if app.provider == "apple" else app.client_id for app in found} - {""}

    def is_own(self, provider: str) -> bool:
        registry = import_string("allauth.socialaccount.providers.registry")
        named = [one for one in registry.get_class_list() if one.id == provider]
        return any(not one.__module__.startswith("allauth.") for one in named)

    def problem(self, provider: str) -> str:
        found = _apps(provider)
        if provider in self.names and any(app.provider != provider for app in found):
            return "an app of another kind has the name of this provider"
        fields = {str((app.settings or {}).get("uid_field", "sub")) for app in found}
        if any(app.provider == _OPENID for app in found) and fields != {"sub"}:
            return "its uid is not the claim `sub` (setting `uid_field`)"
        return ""


def _apps(provider: str) -> list[Any]:
    """The apps whose users have this name in their rows; from settings and the database."""
    adapter = import_string("allauth.socialaccount.adapter.get_adapter")()
    listed = adapter.list_apps(None, provider=provider)
    return [app for app in listed if (app.provider_id or app.provider) == provider]


def _server(kind: str, of_app: Mapping[str, Any]) -> str:
    if kind == _OPENID:
        return str(of_app.get("server_url", ""))
    if kind not in _SERVERS:
        return ""
    key, default = _SERVERS[kind]
    of_provider = getattr(settings, "SOCIALACCOUNT_PROVIDERS", {}).get(kind, {})
    # allauth reads the address of GitHub from the provider's settings only.
    own = of_app.get(key) if kind == "gitlab" else None
    return str(own or of_provider.get(key.upper()) or default)


def _email(profile: Any) -> str:
    known = read.mapping(profile)
    inner = (known, read.mapping(known.get("userinfo")), read.mapping(known.get("id_token")))
    return next(filter(None, (read.text(one.get("email")) for one in inner)), "")
