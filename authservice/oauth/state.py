"""The state of a flow (RFC 6749 section 10.12): a one-time token bound to provider and browser.

The row stores keyed digests of the state and of the browser's cookie; the nonce and the code
verifier are encrypted. Each flow has a cookie of its own, so that several tabs work at once; a
browser keeps the newest of them, since servers refuse requests with too many cookies. An attacker
who makes a victim open a callback (login CSRF) has the cookie of another browser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from authservice.core.credentials import one_time
from authservice.core.models import OneTimeToken
from authservice.kernel import clock, secret
from authservice.kernel.secret import Secret
from authservice.oauth import errors
from authservice.oauth.conf import conf
from authservice.oauth.provider import Flow

_PURPOSE = "oauth-state"
_BROWSER = "oauth-browser"
COOKIES = "authservice_oauth_"  # the start of their names
_MOST_COOKIES = 10
_TIME = re.compile(r"[0-9a-f]{1,16}")
_LONGEST = 128  # characters of a state; ours has 43


@dataclass(frozen=True, kw_only=True)
class Linking:
    """The signed-in user who links a provider, and the session in which they do so."""

    user_id: Any
    session_id: UUID


@dataclass(frozen=True, kw_only=True)
class Started:
    """A flow that was started; `linking` is None for a login. `visitor` is the session in which the
    browser was signed in at the start of a login, if that was stored. `onward` is the page to
    return to, as requested at the start, or ""."""

    flow: Flow
    linking: Linking | None
    visitor: UUID | None
    onward: str
    row: OneTimeToken


def new_flow(provider: str, redirect_uri: str) -> Flow:
    return Flow(
        provider=provider,
        redirect_uri=redirect_uri,
        state=one_time.new_token(),
        nonce=one_time.new_token(),
        code_verifier=one_time.new_token(),
    )


def store(
    flow: Flow,
    *,
    linking: Linking | None = None,
    visitor: UUID | None = None,
    onward: str = "",
) -> Secret:
    """Store a flow; returns the value of the cookie that binds it to the browser."""
    now = clock.now()
    # The value begins with the time of the start, by which the oldest cookie is found. The digest
    # covers this time too.
    browser = Secret(f"{int(now.timestamp()):x}.{one_time.new_token().reveal()}")
    # The secrets are in no local variable: error reports print those of each frame.
    sealed = secret.seal(
        _PURPOSE,
        json.dumps(
            {
                "nonce": flow.nonce.reveal(),
                "code_verifier": flow.code_verifier.reveal(),
                "redirect_uri": flow.redirect_uri,
                "session_id": str(linking.session_id) if linking else "",
                "visitor": str(visitor) if visitor else "",
                "onward": onward,
            }
        ),
    )
    OneTimeToken.objects.create(
        purpose=_PURPOSE,
        digest=secret.digest(_PURPOSE, flow.state.reveal()),
        target_key=secret.digest(_BROWSER, browser.reveal()),
        user_id=linking.user_id if linking else None,
        payload={"provider": flow.provider, "sealed": sealed},
        created_at=now,
        expires_at=now + conf.state_ttl,
    )
    return browser


def find(provider: str, state: Secret, browser: Secret) -> Started:
    """The open flow of this state. Raises `InvalidState`, `StateExpired` or `StateUsed`."""
    if not 0 < len(state.reveal()) <= _LONGEST:
        raise errors.InvalidState
    digests = secret.digests(_PURPOSE, state.reveal())
    row = OneTimeToken.objects.filter(purpose=_PURPOSE, digest__in=digests).first()
    if row is None or row.payload["provider"] != provider:
        raise errors.InvalidState
    if row.spent_at is not None:
        raise errors.StateUsed
    if row.expires_at <= clock.now():
        raise errors.StateExpired
    if not secret.matches(_BROWSER, browser.reveal(), row.target_key):
        raise errors.InvalidState
    try:
        content = json.loads(secret.unseal(_PURPOSE, row.payload["sealed"]))
    except secret.Unreadable as error:
        raise errors.InvalidState from error
    session_id = content["session_id"]
    visitor = content.get("visitor")  # absent in a flow that an earlier version started
    # The secrets are popped: error reports print `content`.
    return Started(
        flow=Flow(
            provider=provider,
            redirect_uri=content["redirect_uri"],
            state=state,
            nonce=Secret(content.pop("nonce")),
            code_verifier=Secret(content.pop("code_verifier")),
        ),
        linking=Linking(user_id=row.user_id, session_id=UUID(session_id)) if session_id else None,
        visitor=UUID(visitor) if visitor else None,
        onward=content["onward"],
        row=row,
    )


def consume(started: Started) -> None:
    """Use the state up. Raises `StateUsed` if another request did, `StateExpired`."""
    if not one_time.consume(started.row):
        expired = started.row.expires_at <= clock.by_now()
        raise errors.StateExpired if expired else errors.StateUsed


def cookie(state: Secret) -> str:
    """The name of the cookie of a flow. It is no secret: the digest is not stored and not keyed."""
    return f"{COOKIES}{secret.fingerprint(state.reveal())[:16]}"


def surplus_cookies(flows: Mapping[str, str]) -> list[str]:
    """The names of the cookies of the oldest flows that a browser has to forget before it gets
    another one; `flows` are those of its request."""
    newest_first = sorted(flows, key=lambda name: _started_at(flows[name]), reverse=True)
    return newest_first[_MOST_COOKIES - 1 :]


def _started_at(value: str) -> int:
    """When the flow of a cookie was started; 0 for a cookie that is not ours, which is forgotten
    first."""
    text = value.partition(".")[0]
    return int(text, 16) if _TIME.fullmatch(text) else 0
