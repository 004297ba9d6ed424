"""The links of django-allauth and social-auth-app-django, read in one shape, and which of their
identifiers are subjects of our providers.

A wrong subject is worse than none. The number that one server has given to a user belongs to
another person on another server, who could then log in to the account. So a row is refused unless
its provider, its server and the form of its identifier are those that our provider sees at a login.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.utils.module_loading import import_string

from authservice.oauth import claims, provider_settings
from authservice.oauth import claims as read
from authservice.oauth.openid import OpenIDProvider
from authservice.oauth.provider import UserInfoFailed
from authservice.oauth.providers.openid_connect import (
    Apple,
    GitLab,
    Google,
    LinkedIn,
    Microsoft,
    Slack,
)
from authservice.oauth.providers.plain_oauth2 import Discord, Facebook, GitHub

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


class NotASubject(Exception):
    """The row cannot be imported; the text is the reason, in lower case."""


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """How the subjects of a class of providers are recognised.

    `claims` are the members of the profile that the identifier may come from; any, if empty.
    `pattern` matches an identifier, and `form` describes it to the operator. `server` returns the
    server of our provider, if users of several servers can have the same identifier. `client`
    returns our client (Apple: the team), if a user has another subject for each client. `subject`
    makes our subject of an identifier.
    """

    kind: type
    claims: tuple[str, ...]
    pattern: str = r"[^@]+"
    form: str = "an identifier of the provider"
    server: Callable[[Any], str] | None = None
    client: Callable[[Any], str] | None = None
    subject: Callable[[str], str] = str


_NUMBER: Mapping[str, Any] = {"pattern": r"[0-9]+", "form": "a number"}
_ID, _SUB = ("id",), ("sub",)


def _client_id(provider: Any) -> str:
    return str(provider.client_id)


def _issuer(provider: Any) -> str:
    return str(provider.issuer)


# The first match counts: the named providers before their base class.
_RULES = (
    _Rule(
        kind=GitHub,
        claims=_ID,
        **_NUMBER,
        # The host alone: the path is that of the consent screen.
        server=lambda provider: server_of(provider.authorization_base()).partition("/")[0],
    ),
    _Rule(kind=GitLab, claims=("id", "sub"), **_NUMBER, server=_issuer),
    _Rule(kind=Discord, claims=_ID, **_NUMBER),
    _Rule(kind=Facebook, claims=("id", "sub", "user_id"), **_NUMBER, client=_client_id),
    _Rule(kind=Google, claims=_SUB, **_NUMBER),
    _Rule(kind=LinkedIn, claims=_SUB, client=_client_id),
    _Rule(kind=Apple, claims=_SUB, client=lambda provider: provider.settings.team_id),
    _Rule(
        kind=Microsoft,
        claims=("id", "oid"),
        # A tenant's accounts have a UUID, personal accounts up to 16 hexadecimal digits. The
        # `oid` of a personal account begins with zeros and is not its `id`.
        pattern=r"(?!00000000-0000-0000-)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{10,16}",
        form="the `id` of Microsoft Graph",
    ),
    _Rule(
        kind=Slack,
        claims=(),
        pattern=r"[TE][A-Z0-9]+[-_][UW][A-Z0-9]+",
        form="a workspace with a user",
        subject=lambda uid: uid.replace("_", "-"),
    ),
    _Rule(kind=OpenIDProvider, claims=_SUB, pattern=r".+", server=_issuer),
)


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Where the rows of one provider go. `refusal` is the reason why none of them can."""

    provider: str = ""
    rule: _Rule | None = None
    refusal: str = ""


@dataclass
class Subjects:
    """Finds provider and subject of a row. `names` are our names that the operator gave with
    `--map`, by the names in the package."""

    package: PackageRows
    names: Mapping[str, str]
    _targets: dict[str, _Target] = field(default_factory=dict)

    def of(self, row: Row) -> tuple[str, str]:
        """Our name of the provider, and the subject. Raises `NotASubject`."""
        source_name = row.provider
        if source_name not in self._targets:
            target_name = self.names.get(source_name) or self.package.names.get(source_name, "")
            try:
                self._targets[source_name] = self._checked(source_name, target_name)
            except NotASubject as error:
                self._targets[source_name] = _Target(refusal=f"provider {source_name!r}: {error}")
        target = self._targets[source_name]
        if target.refusal:
            raise NotASubject(target.refusal)
        try:
            subject = claims.subject(row.uid)
        except UserInfoFailed:
            text = "the identifier is empty, too long or a text such as 'None'"
            raise NotASubject(text) from None
        rule = target.rule
        if rule is None:
            return target.provider, subject
        if row.claim and rule.claims and row.claim not in rule.claims:
            reason = f"the identifier is `{row.claim}`, which is not the subject"
            raise NotASubject(f"provider {source_name!r}: {reason}")
        if not re.fullmatch(rule.pattern, subject):
            raise NotASubject(f"provider {source_name!r}: the identifier is not {rule.form}")
        return target.provider, rule.subject(subject)

    def _checked(self, source_name: str, target_name: str) -> _Target:
        if not target_name:
            raise NotASubject("has no counterpart; name one with --map")
        provider: Any = provider_settings.find_provider(target_name)
        if provider is None:
            raise NotASubject(f"{target_name!r} is not in OAUTH.PROVIDERS")
        rule = next((rule for rule in _RULES if isinstance(provider, rule.kind)), None)
        # What a class or settings of the project read is unknown, on our side (`is_of_project`) or
        # on that of the package (`is_own`): the operator confirms by --map that it is the same.
        mapped = source_name in self.names
        is_of_project = rule is None or type(provider) is OpenIDProvider
        if not mapped and (is_of_project or self.package.is_own(source_name)):
            raise NotASubject("has a class or settings of your own; confirm with --map")
        if problem := self.package.problem(source_name):
            raise NotASubject(problem)
        if rule is not None and rule.server:
            server = server_of(rule.server(provider))
            _compare("server", self.package.servers(source_name), server, mapped=mapped)
        if rule is not None and rule.client:
            client = rule.client(provider)
            _compare("client", self.package.clients(source_name), client, mapped=mapped)
        return _Target(provider=target_name, rule=rule)


def _compare(kind: str, used: Any, expected: str, *, mapped: bool) -> None:
    if not used and not mapped:
        raise NotASubject(
            f"its {kind} is not in the settings; confirm with --map if it is {expected}"
        )
    if used and set(used) != {expected}:
        used_ids = ", ".join(sorted(used))
        raise NotASubject(f"its identifiers are those of the {kind} {used_ids}, ours of {expected}")
