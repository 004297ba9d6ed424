"""The links of other packages, read in one shape: django-allauth and social-auth-app-django."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.utils.module_loading import import_string

from authservice.oauth import claims as read

_OPENID = "openid_connect"
# By provider of allauth: the key of its server in the settings of the app or of the provider, and
# the default server.
_ALLAUTH_SERVERS = {"github": ("github_url", "github.com"), "gitlab": ("gitlab_url", "gitlab.com")}
# By back end of social-auth-core: the default server.
_SOCIAL_SERVERS = {
    "github": "github.com",
    "github-org": "github.com",
    "github-team": "github.com",
    "gitlab": "gitlab.com",
}
# Settings of a back end that name another server; the first one that is set counts.
_SERVER_SETTINGS = ("OIDC_ENDPOINT", "URL", "API_URL")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One link of the other package. `claim` is the member of the profile that `uid` was read from,
    or "" if the package does not know it."""

    pk: Any
    user_id: Any
    provider: str
    uid: str
    claim: str
    email: str
    added_at: datetime


class PackageRows(Protocol):
    """Reads the links of a package."""

    package: str
    """Its name on the package index."""
    app: str
    """The app that must be in `INSTALLED_APPS`."""
    reads: Collection[str]
    """The label of the model of its links."""
    names: Mapping[str, str]
    """Our name of each provider whose identifiers are the subjects that we use."""
    added_field: str
    """The field with the time at which a row was added."""

    def model(self) -> type[Model]:
        """The model of the links; its user is in the field `user`."""

    def read(self, row: Any) -> Row:
        """A row of that model."""

    def servers(self, provider: str) -> Collection[str]:
        """The servers that issued the identifiers of a provider, as `server_of` returns them; empty
        if unknown."""

    def clients(self, provider: str) -> Collection[str]:
        """The client ids (Apple: the teams) with which users logged in; empty if unknown."""

    def is_own(self, provider: str) -> bool:
        """Whether the project has a class of its own for a provider, which may lead to another
        server or read another identifier."""

    def problem(self, provider: str) -> str:
        """Why no row of this provider can be imported, by the settings of the package; "" if there
        is no reason."""


def server_of(address: str) -> str:
    """Host and path of a server's address, by which two addresses are compared."""
    address = address.partition("/.well-known/")[0]
    parts = urlsplit(address if "://" in address else f"//{address}")
    return f"{parts.netloc.lower()}{parts.path.rstrip('/')}"


class AllauthRows:
    """The model `SocialAccount` of `allauth.socialaccount`.

    Its providers store as `uid` what this module uses as the subject; that of Slack has another
    separator. There are two exceptions: `linkedin_oauth2` stores the id of an interface that
    LinkedIn has shut down, and OpenID Connect stores the claim that `uid_field` names (`sub` by
    default).
    """

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
        profile = read.mapping(row.extra_data)
        inner = (read.mapping(profile.get(name)) for name in ("userinfo", "id_token"))
        addresses = (read.text(part.get("email")) for part in (profile, *inner))
        return Row(
            pk=row.pk,
            user_id=row.user_id,
            provider=row.provider,
            uid=row.uid,
            claim="",
            email=next(filter(None, addresses), ""),
            added_at=row.date_joined,
        )

    def servers(self, provider: str) -> Collection[str]:
        known_apps = _apps(provider)
        if not known_apps:
            return {server_of(_server(provider, {}))} if provider in _ALLAUTH_SERVERS else set()
        addresses = (_server(app.provider, app.settings or {}) for app in known_apps)
        return {server_of(address) for address in addresses if address}

    def clients(self, provider: str) -> Collection[str]:
        known_apps = _apps(provider)
        # Apple's team is the `key` of the app.
        return {app.key if app.provider == "apple" else app.client_id for app in known_apps} - {""}

    def is_own(self, provider: str) -> bool:
        registry = import_string("allauth.socialaccount.providers.registry")
        classes = [kind for kind in registry.get_class_list() if kind.id == provider]
        return any(not kind.__module__.startswith("allauth.") for kind in classes)

    def problem(self, provider: str) -> str:
        known_apps = _apps(provider)
        if provider in self.names and any(app.provider != provider for app in known_apps):
            return "an app of another kind has the name of this provider"
        fields = {str((app.settings or {}).get("uid_field", "sub")) for app in known_apps}
        if any(app.provider == _OPENID for app in known_apps) and fields != {"sub"}:
            return "its uid is not the claim `sub` (setting `uid_field`)"
        return ""


def _apps(provider: str) -> list[Any]:
    """The apps whose users have this name in their rows; from settings and the database."""
    adapter = import_string("allauth.socialaccount.adapter.get_adapter")()
    candidates = adapter.list_apps(None, provider=provider)
    return [app for app in candidates if (app.provider_id or app.provider) == provider]


def _server(kind: str, of_app: Mapping[str, Any]) -> str:
    if kind == _OPENID:
        return str(of_app.get("server_url", ""))
    if kind not in _ALLAUTH_SERVERS:
        return ""
    key, default = _ALLAUTH_SERVERS[kind]
    provider_settings = getattr(settings, "SOCIALACCOUNT_PROVIDERS", {}).get(kind, {})
    # allauth reads the address of GitHub from the provider's settings only.
    app_address = of_app.get(key) if kind == "gitlab" else None
    return str(app_address or provider_settings.get(key.upper()) or default)


class SocialDjangoRows:
    """The model `UserSocialAuth` of social-auth-app-django.

    The back ends of social-auth-core store as `uid` the `id` of the profile with OAuth 2.0 and
    `sub` with OpenID Connect, unless the setting `ID_KEY` names another member. Since version 6 the
    rows say in `id_key` which member it was. Before, `google-oauth2` stored the e-mail address and
    `azuread-oauth2` the `upn`: neither is stable. Other back ends of Azure AD store `sub`, which
    differs for each application, and `slack` a user id without its workspace.
    """

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
            # Older versions of the package have no such field.
            claim=getattr(row, "id_key", "") or _setting(row.provider, "ID_KEY"),
            email=read.text(read.mapping(row.extra_data).get("email")),
            added_at=row.created,
        )

    def servers(self, provider: str) -> Collection[str]:
        addresses = filter(None, (_setting(provider, name) for name in _SERVER_SETTINGS))
        address = next(addresses, "") or _SOCIAL_SERVERS.get(provider, "")
        return {server_of(address)} if address else set()

    def clients(self, provider: str) -> Collection[str]:
        client = _setting(provider, "TEAM" if provider == "apple-id" else "KEY")
        return {client} if client else set()

    def is_own(self, provider: str) -> bool:
        backends = [import_string(path) for path in settings.AUTHENTICATION_BACKENDS]
        named = [backend for backend in backends if getattr(backend, "name", "") == provider]
        return any(not backend.__module__.startswith("social_core.") for backend in named)

    def problem(self, provider: str) -> str:
        return ""


def _setting(provider: str, name: str) -> str:
    """A setting as social-auth-core reads it: the one of the back end, or else the one of all back
    ends."""
    prefix = provider.upper().replace("-", "_")
    for key in (f"SOCIAL_AUTH_{prefix}_{name}", f"SOCIAL_AUTH_{name}", name):
        if hasattr(settings, key):
            return str(getattr(settings, key) or "")
    return ""
