"""Settings of each provider: `AUTHSERVICE["OAUTH"]["PROVIDERS"][name]`, read, built and checked.

The class of a provider declares its settings as a dataclass, so a provider from outside the package
can have settings of its own. Names, types and messages are those of `kernel.settings`.

A provider is built when it is first used: the back ends of social-auth-core need memory, which a
worker saves until a user logs in with one.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, get_type_hints

from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from authservice.core.users import identifiers
from authservice.kernel.checks import declare, message
from authservice.kernel.origins import is_loopback, is_web_address, parts_of
from authservice.kernel.secret import Secret
from authservice.kernel.settings import cached, convert
from authservice.oauth.conf import conf
from authservice.oauth.provider import Provider

declare(
    {
        "authservice.E201": (
            "A key of OAUTH.PROVIDERS cannot be the name of a provider: names are part of paths.",
            "Choose another name of a-z, 0-9, '-' and '_'; 'providers' and 'linked' are paths of"
            " the module.",
        ),
        "authservice.E202": (
            "The settings of a provider in OAUTH.PROVIDERS are invalid. The provider cannot be"
            " used.",
            "Correct them; the page about providers lists the settings of each.",
        ),
        "authservice.W203": (
            "OAUTH.PROVIDERS sets PKCE for a provider that does not support it. No code challenge"
            " is sent.",
            "Remove PKCE from the settings of this provider.",
        ),
        "authservice.W209": (
            "OAUTH.PROVIDERS has a provider of the project's choice without EMAIL_DOMAINS, or a"
            " named one with addresses of another server or TRUST_TENANT_EMAIL. Its administrators"
            " can log in to every account by claiming its address.",
            "Set EMAIL_DOMAINS to the domains that belong to the provider, or, if it verifies"
            " every address, to an asterisk. With LINK_BY_EMAIL False it is never linked by"
            " address.",
        ),
        "authservice.W216": (
            "A provider has an ISSUER on this machine, as providers for development have.",
            "Remove the settings that authservice_local_provider printed: it lets everybody log in"
            " as anybody.",
        ),
    },
    area="providers",
)

# Dotted paths, because importing the classes costs each worker 3 MB. A class has the proper name of
# its provider, which mails show.
BUILT_IN: Mapping[str, str] = {
    "apple": "authservice.oauth.providers.openid_connect.Apple",
    "discord": "authservice.oauth.providers.plain_oauth2.Discord",
    "facebook": "authservice.oauth.providers.plain_oauth2.Facebook",
    "github": "authservice.oauth.providers.plain_oauth2.GitHub",
    "gitlab": "authservice.oauth.providers.openid_connect.GitLab",
    "google": "authservice.oauth.providers.openid_connect.Google",
    "linkedin": "authservice.oauth.providers.openid_connect.LinkedIn",
    "microsoft": "authservice.oauth.providers.openid_connect.Microsoft",
    "slack": "authservice.oauth.providers.openid_connect.Slack",
}
GENERIC = "authservice.oauth.openid.OpenIDProvider"
SOCIAL_CORE = "authservice.oauth.social_core.SocialCoreProvider"
# Paths of the module itself: /oauth/providers and /oauth/linked.
RESERVED = ("providers", "linked")
ANY_DOMAIN = "*"
# With one of these keys, the project has chosen who says which addresses are verified: the name of
# a built-in provider does not tell it then (W209).
_CHOSEN_BY_PROJECT = (
    *("BACKEND", "CLASS", "EMAILS_URL", "ISSUER", "JWKS_URL", "TOKEN_URL", "USERINFO_URL"),
    "TRUST_TENANT_EMAIL",
)
# A domain alone, without a user or a pattern in front of it; a subdomain is another domain.
_DOMAIN = re.compile(r"[^\s@*./]+(\.[^\s@*./]+)+")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass(frozen=True, kw_only=True)
class ProviderSettings:
    """`AUTHSERVICE["OAUTH"]["PROVIDERS"][name]`: the keys that every provider has."""

    required: ClassVar[tuple[str, ...]] = ("client_id", "client_secret")

    client_id: str = ""
    """Client id that the provider assigned."""
    client_secret: Secret = dataclasses.field(default_factory=lambda: Secret(""))
    """Client secret that the provider assigned."""
    scopes: tuple[str, ...] = ()
    """Scopes to request, as a list or as one text; if empty, the defaults of the provider."""
    redirect_url: str = ""
    """Callback address registered at the provider; if empty, it is made from `API_URL`."""
    pkce: bool = True
    """Whether to send a code challenge (RFC 7636, S256), if the provider supports it."""
    display_name: str = ""
    """Name of the provider in mails, such as `"Example Ltd"`; if empty, the proper name of a named
    provider, and the key of any other."""
    email_domains: tuple[str, ...] = ("*",)
    """Domains for whose addresses the provider speaks, such as `["example.com"]`; `["*"]` for all.
    An address of another domain counts as unverified."""
    link_by_email: bool = True
    """Whether the provider may be linked to an account by its verified address. If false, users
    link it while signed in."""
    enabled: bool = True
    """Whether users can log in with the provider."""
    authorization_url: str = ""
    """Replaces the provider's authorization endpoint, for sandboxes and tests."""
    token_url: str = ""
    """Replaces the provider's token endpoint."""
    userinfo_url: str = ""
    """Replaces the address from which the profile is read."""
    authorization_parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Further parameters of the authorization request, such as `{"prompt": "consent"}`."""
    native_client_ids: tuple[str, ...] = ()
    """Client ids of native apps, accepted as the audience of their ID tokens."""
    native_redirect_uris: tuple[str, ...] = ()
    """Redirect addresses with which native apps may exchange a code."""

    def problems(self) -> Iterator[str]:
        """What is wrong with the values of one provider beside their types; each text continues
        a sentence that begins with the path of the setting."""
        for name in self.required:
            if not getattr(self, name):
                yield f"[{name.upper()!r}] is missing."
        for domain in self.email_domains:
            if domain != ANY_DOMAIN and not _DOMAIN.fullmatch(domain):
                yield (
                    f"['EMAIL_DOMAINS'] contains {domain!r}, which is not a domain such as"
                    " 'example.com', or '*' for all domains."
                )


@dataclass(frozen=True, kw_only=True)
class Entry:
    """The raw settings of one provider."""

    name: str
    raw_settings: Mapping[str, Any]

    @property
    def path(self) -> str:
        """Dotted path of the class that speaks with the provider; empty if there is none."""
        path = self.raw_settings.get("CLASS")
        if not path and "BACKEND" in self.raw_settings:
            path = SOCIAL_CORE
        if not path and "ISSUER" in self.raw_settings and self.name not in BUILT_IN:
            path = GENERIC
        return str(path or BUILT_IN.get(self.name, ""))

    @property
    def enabled(self) -> bool:
        """Whether users can log in with it, without building it."""
        return bool(self.raw_settings.get("ENABLED", True))


def read() -> Iterator[Entry]:
    """The entries whose name and shape are right; the checks report the others."""
    for name, raw in conf.providers.items():
        if not name_problem(name) and isinstance(raw, Mapping):
            yield Entry(name=name, raw_settings=raw)


@cached
def configured() -> Mapping[str, Entry]:
    """The settings of all providers, disabled ones included, in the order of the settings."""
    return MappingProxyType({entry.name: entry for entry in read()})


def find_provider(name: str) -> Provider | None:
    """The provider with this name, enabled or not. Raises `ImproperlyConfigured` if its settings
    are invalid."""
    return built(name) if name in configured() else None


@cached
def built(name: str) -> Provider:
    """The provider with this name, which must be configured."""
    return build(configured()[name])


def title(name: str) -> str:
    """The name of a provider for people, also of one that is not configured any more."""
    own_name = _raw_settings(name).get("DISPLAY_NAME")
    if isinstance(own_name, str) and own_name:
        return own_name
    return BUILT_IN.get(name, name).rpartition(".")[2]


def login_method(provider: str) -> str:
    """The name of a login with this provider, in audit entries, in sessions and for
    `login.enter`."""
    return f"oauth:{provider}"


def vouches_for(name: str, email: str) -> bool:
    """Whether the settings let this provider verify addresses of the domain of `email`."""
    domains = _raw_settings(name).get("EMAIL_DOMAINS", ANY_DOMAIN)
    if domains == ANY_DOMAIN or ANY_DOMAIN in domains:
        return True
    domain = identifiers.domain_key(email.rpartition("@")[2])
    return domain in {identifiers.domain_key(trusted) for trusted in domains}


def links_by_email(name: str) -> bool:
    """Whether this provider may be linked to an account by its verified address."""
    return conf.allow_account_linking and bool(_raw_settings(name).get("LINK_BY_EMAIL", True))


def _raw_settings(name: str) -> Mapping[str, Any]:
    raw = conf.providers.get(name)
    return raw if isinstance(raw, Mapping) else {}


def build(entry: Entry) -> Provider:
    """The provider of these settings. Raises `ImproperlyConfigured`."""
    problems = list(_problems(entry))
    if problems:
        raise ImproperlyConfigured("; ".join(f"{_where(entry.name)}{text}" for text in problems))
    kind = import_string(entry.path)
    values, _ = _converted(entry, kind.Settings)
    provider: Provider = kind(entry.name, kind.Settings(**values))
    return provider


def check_providers() -> Iterator[CheckMessage]:
    """System checks of all providers; they send no requests."""
    for name, raw in conf.providers.items():
        problem = name_problem(name)
        if problem:
            yield message("authservice.E201", f"{_where(name)} {problem}")
            continue
        valid = isinstance(raw, Mapping)
        entry = Entry(name=name, raw_settings=raw if valid else {})
        problems = list(_problems(entry)) if valid else [" must be a dict."]
        for text in problems:
            yield message("authservice.E202", f"{_where(name)}{text}")
        if not problems and raw.get("PKCE") and not build(entry).pkce:
            text = f"{_where(name)}['PKCE'] is set, but this provider does not support PKCE."
            yield message("authservice.W203", text)


def check_domains() -> Iterator[CheckMessage]:
    """A deploy check: a provider that the project has chosen may speak for the owner of every
    address, as long as EMAIL_DOMAINS does not limit it."""
    for entry in read():
        is_chosen = any(entry.raw_settings.get(key) for key in _CHOSEN_BY_PROJECT)
        if (
            is_chosen
            and "EMAIL_DOMAINS" not in entry.raw_settings
            and conf.trust_email_verification
        ):
            text = f"{_where(entry.name)} has no EMAIL_DOMAINS, so it may log in to every account"
            yield message("authservice.W209", f"{text} by claiming its address.")


def check_issuers() -> Iterator[CheckMessage]:
    """A deploy check: a provider for development, which lets everybody in as anybody."""
    for entry in read():
        issuer = entry.raw_settings.get("ISSUER", "")
        if isinstance(issuer, str) and is_loopback(parts_of(issuer).hostname):
            text = f"{_where(entry.name)} has the ISSUER {issuer!r}"
            yield message("authservice.W216", f"{text}, as providers for development have.")


def _problems(entry: Entry) -> Iterator[str]:
    if not entry.path:
        yield (
            f" is not a provider of authservice. Names of providers: {', '.join(BUILT_IN)}."
            " Another name needs ISSUER (OpenID Connect), BACKEND or CLASS."
        )
        return
    try:
        kind = import_string(entry.path)
    except ImportError as error:
        yield f"['CLASS'] is {entry.path!r}, which cannot be imported: {error}"
        return
    values, complaints = _converted(entry, kind.Settings)
    yield from complaints
    if complaints:
        return
    settings = kind.Settings(**values)
    yield from settings.problems()
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        is_address = field.name.endswith("_url") or field.name == "issuer"
        if is_address and value and (not is_web_address(value) or parts_of(value).fragment):
            yield f"[{field.name.upper()!r}] is {value!r}, which is not an http or https URL."
    if settings.native_redirect_uris and not getattr(kind, "supports_pkce", True):
        yield "['NATIVE_REDIRECT_URIS'] requires PKCE, which this provider does not support."
    elif settings.native_redirect_uris and not settings.pkce:
        yield "['NATIVE_REDIRECT_URIS'] requires PKCE, which must not be False."


def _converted(entry: Entry, schema: type[ProviderSettings]) -> tuple[dict[str, Any], list[str]]:
    """The values by field name, and what is wrong with the keys and types, in texts as those of
    `ProviderSettings.problems`."""
    types = get_type_hints(schema)
    field_types = {field.name: types[field.name] for field in dataclasses.fields(schema)}
    values: dict[str, Any] = {}
    complaints: list[str] = []
    for key, raw in entry.raw_settings.items():
        if key == "CLASS":
            continue
        if not isinstance(key, str) or not key.isupper() or key.lower() not in field_types:
            near = difflib.get_close_matches(
                str(key).upper(), [name.upper() for name in field_types], n=1
            )
            hint = f" Did you mean {near[0]!r}?" if near else ""
            complaints.append(f"[{key!r}] is not a setting of this provider.{hint}")
            continue
        try:
            # One text in place of a list: any SCOPES, and "*" for EMAIL_DOMAINS.
            if isinstance(raw, str) and (key == "SCOPES" or raw == ANY_DOMAIN):
                raw = [raw]
            values[key.lower()] = _value(raw, field_types[key.lower()])
        except TypeError as error:
            complaints.append(f"[{key!r}] must be {error}.")
    return values, complaints


def _value(raw: Any, annotation: Any) -> Any:
    if annotation is Secret:
        return raw if isinstance(raw, Secret) else Secret(convert(raw, str))
    return convert(raw, annotation)


def name_problem(name: object) -> str:
    """Why no provider may have this name, or ""."""
    if name in RESERVED:
        return "has the name of a path of this module."
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "must be named with lower-case ASCII (a-z, 0-9, '-', '_'), at most 63 characters."
    return ""


def _where(name: object) -> str:
    return f"OAUTH.PROVIDERS[{name!r}]"
