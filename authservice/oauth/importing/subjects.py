"""Which identifiers of another package are subjects of our providers.

A wrong subject is worse than none. The number that one server has given to a user belongs to
another person on another server, who could then log in to the account. So a row is refused unless
its provider, its server and the form of its identifier are those that our provider sees at a login.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from authservice.oauth import claims, provider_settings
from authservice.oauth.importing.package_links import PackageRows, Row, server_of
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
