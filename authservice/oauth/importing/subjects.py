"""Which identifiers of another package are subjects of our providers.

A wrong subject is worse than none. A number that one server issued to a user is on another server
the number of another person, who could then log in to the account. So a row is refused unless its
provider, its server and the form of its identifier are those that our provider sees at a login.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from authservice.oauth import claims, registry
from authservice.oauth.importing.rows import PackageRows, Row, server_of
from authservice.oauth.openid import OpenIDProvider
from authservice.oauth.provider import Provider, UserInfoFailed
from authservice.oauth.providers.apple import Apple
from authservice.oauth.providers.microsoft import Microsoft
from authservice.oauth.providers.openid_connect import GitLab, Google, LinkedIn, Slack
from authservice.oauth.providers.plain_oauth2 import Discord, Facebook, GitHub


class NotASubject(Exception):
    """The row cannot be imported; the text is the reason, in lower case."""


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """How the subjects of a class of providers are recognised.

    `claims` are the members of the profile that may have been the identifier. `server` is the
    server of our provider, if users of several servers can have the same identifier. `client` is
    our client (Apple: the team), if a user has another subject for each client.
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
    _Rule(kind=GitHub, claims=_ID, **_NUMBER, server=lambda one: _host(one.authorization_base())),
    _Rule(kind=GitLab, claims=("id", "sub"), **_NUMBER, server=_issuer),
    _Rule(kind=Discord, claims=_ID, **_NUMBER),
    _Rule(kind=Facebook, claims=("id", "sub", "user_id"), **_NUMBER, client=_client_id),
    _Rule(kind=Google, claims=_SUB, **_NUMBER),
    _Rule(kind=LinkedIn, claims=_SUB, client=_client_id),
    _Rule(kind=Apple, claims=_SUB, client=lambda one: one.settings.team_id),
    _Rule(
        kind=Microsoft,
        claims=("id", "oid"),
        # A tenant's accounts have a UUID, personal accounts 16 digits. The `oid` of a personal
        # account begins with zeros and is not its `id`.
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
    """Finds provider and subject of a row. `names` are those that the operator gave."""

    package: PackageRows
    names: Mapping[str, str]
    _targets: dict[str, _Target] = field(default_factory=dict)

    def of(self, row: Row) -> tuple[str, str]:
        """Our name of the provider, and the subject. Raises `NotASubject`."""
        if row.provider not in self._targets:
            self._targets[row.provider] = self._target(row.provider)
        target = self._targets[row.provider]
        if target.refusal:
            raise NotASubject(target.refusal)
        return target.provider, _subject(row, target.rule)

    def _target(self, theirs: str) -> _Target:
        ours = self.names.get(theirs) or self.package.names.get(theirs, "")
        try:
            return self._checked(theirs, ours)
        except NotASubject as reason:
            return _Target(refusal=f"provider {theirs!r}: {reason}")

    def _checked(self, theirs: str, ours: str) -> _Target:
        provider = registry.get(ours) if ours else None
        if not ours:
            raise NotASubject("has no counterpart; name one with --map")
        if provider is None:
            raise NotASubject(f"{ours!r} is not in OAUTH.PROVIDERS")
        rule = _rule_of(provider)
        mapped = theirs in self.names
        own = rule is None or type(provider) is OpenIDProvider
        if not mapped and (own or self.package.is_own(theirs)):
            raise NotASubject("has a class or settings of your own; confirm with --map")
        if problem := self.package.problem(theirs):
            raise NotASubject(problem)
        if rule is not None:
            self._check_origin(theirs, provider, rule, mapped=mapped)
        return _Target(provider=ours, rule=rule)

    def _check_origin(self, theirs: str, provider: Any, rule: _Rule, *, mapped: bool) -> None:
        if rule.server:
            used = self.package.servers(theirs)
            _compare("server", used, server_of(rule.server(provider)), mapped=mapped)
        if rule.client:
            _compare("client", self.package.clients(theirs), rule.client(provider), mapped=mapped)


def _compare(what: str, used: Any, ours: str, *, mapped: bool) -> None:
    if not used and not mapped:
        raise NotASubject(f"its {what} is not in the settings; confirm with --map if it is {ours}")
    if used and set(used) != {ours}:
        listed = ", ".join(sorted(used))
        raise NotASubject(f"its identifiers are those of the {what} {listed}, ours of {ours}")


def _subject(row: Row, rule: _Rule | None) -> str:
    try:
        subject = claims.subject(row.uid)
    except UserInfoFailed:
        raise NotASubject("the identifier is empty, too long or a text such as 'None'") from None
    if rule is None:
        return subject
    if row.claim and rule.claims and row.claim not in rule.claims:
        raise NotASubject(
            f"provider {row.provider!r}: the identifier is `{row.claim}`, which is not the subject"
        )
    if not re.fullmatch(rule.pattern, subject):
        raise NotASubject(f"provider {row.provider!r}: the identifier is not {rule.form}")
    return rule.subject(subject)


def _rule_of(provider: Provider) -> _Rule | None:
    return next((rule for rule in _RULES if isinstance(provider, rule.kind)), None)


def _host(address: str) -> str:
    return server_of(address).partition("/")[0]
