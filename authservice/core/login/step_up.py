"""Step-up: a signed-in user proves a level again, or a stronger one (RFC 9470).

A guarded route checks the proofs in the record of the session, which each request reads anyway. A
refusal says which level is needed and how old its proof may be. The client then asks for a
challenge and answers it, and its session continues with a new access token.

The challenge is a signed text, so it leaves no row. It is for one session and one level. The proof
itself uses it up: if the record of the session has a proof that is newer than the challenge, the
challenge is refused. That is so even if this proof was withdrawn with its factor since.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from django.core import signing
from django.db import transaction

from authservice.core import errors
from authservice.core.credentials import lockout
from authservice.core.login import login
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, levels, secret
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault, InvalidToken
from authservice.kernel.interfaces import Along, Reach, SecondFactor
from authservice.kernel.levels import CODE, MFA, OWN, Level, Record
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

RECENT = timedelta(minutes=10)
_PURPOSE = "step-up"
_TTL = timedelta(minutes=5)
PASSWORD = "password"  # noqa: S105 a method
CODE_METHOD = SecondFactor.method  # "code"; factors without codes override it


@dataclass(frozen=True)
class Need:
    """What a guarded route asks for: a level, and how old its proof may be (None: of any age).
    `OWN` is two factors of a user who has a second one, otherwise any proof."""

    acr: Level | Literal["own"] = OWN
    max_age: timedelta | None = RECENT


def need_of(acr: str, max_age: float | None) -> Need:
    """What a view of the host project asks for; `max_age` in seconds. Raises `ValueError`."""
    if acr != OWN and acr not in levels.ORDER:
        raise ValueError(f"The level must be {OWN!r} or one of {', '.join(levels.ORDER)}.")
    if max_age is not None and max_age <= 0:
        raise ValueError("The age must be positive.")
    within = None if max_age is None else timedelta(seconds=max_age)
    return Need(OWN if acr == OWN else levels.by_name(acr), within)


@dataclass(frozen=True)
class Offer:
    """A challenge for a signed-in user: the methods of which one is enough, and what they need."""

    temp_token: Secret
    acr: Level
    methods: tuple[str, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a client sends in answer: the method and its proof; the others are empty."""

    method: str
    password: Secret
    code: Secret
    credential: Mapping[str, Any]


def require(person: Person, record: Record, need: Need) -> None:
    """Raises `StepUpRequired` unless the session has this proof; `StepUpUnavailable` if the user
    has no method that could give it."""
    level = level_of(person, need)
    if not record.proves(level, now=clock.utc(), within=need.max_age):
        methods(person, record, level)  # raises `StepUpUnavailable` if there is none
        raise errors.step_up_required(level, need.max_age)


def level_of(person: Person, need: Need) -> Level:
    if need.acr != OWN:
        return need.acr
    return "aal2" if asks_for_factor(person, plugs(SecondFactor)) else "aal1"


def asks_for_factor(person: Person, factors: Collection[SecondFactor]) -> bool:
    """Whether a login of this user asks for one of these factors: one is enabled, or a second
    factor is required and one of them can answer, such as a passkey that is not marked as one."""
    if any(factor.is_enabled(person) for factor in factors):
        return True
    required = any(factor.is_required(person) for factor in plugs(SecondFactor))
    return required and any(factor.reaches(person) for factor in factors)


def methods(person: Person, record: Record, level: Level) -> tuple[str, ...]:
    """The methods by which this user can prove the level in this session.

    A second factor alone is one factor: in a session that proved no first one, such as one that
    continues the session of another package, only a passkey that verifies its user gives two. A
    factor that was set up when the last proof of this session was old counts for nothing in it.
    Raises `StepUpUnavailable`, which names what to enrol, if the user has no method.
    """
    by_password = level == "aal1" and person.user.has_usable_password()
    available = [PASSWORD] if by_password else []
    enrol: list[str] = []
    lacks_first = False
    for factor in plugs(SecondFactor):
        reach = factor.reaches(person)
        reached = reach.level if reach else None
        # A factor that can prove the level, but that this user has not set up for it yet.
        if levels.includes(factor.level, level) and (
            reached is None or not levels.includes(reached, level)
        ):
            enrol.append(factor.method)
        # In a session without a first factor, a second one counts as one factor (see above).
        if reached == "aal2" and not record.first:
            reached, lacks_first = "aal1", True
        if reach and _is_set_up_by_old_session(reach, record):
            reached, lacks_first = None, True
        if reached is not None and levels.includes(reached, level):
            available.append(factor.method)
    if not available:
        # A session that cannot prove enough to enrol a method either needs another login.
        may_enrol = not lacks_first and _may_enrol(person, record)
        raise errors.step_up_unavailable(level, enrol if may_enrol else [])
    return tuple(available)


def _may_enrol(person: Person, record: Record) -> bool:
    """Whether this session has the proof that enrolling a method asks for, or can get it."""
    needed = level_of(person, Need())
    has_method = needed != "aal1" or person.user.has_usable_password()
    return has_method or record.proves(needed, now=clock.utc(), within=RECENT)


def _is_set_up_by_old_session(reach: Reach, record: Record) -> bool:
    """Whether the factor was set up when all proofs of this session were older than `RECENT`: an
    intruder who has stolen the session may have done it. A proof that is newer than the factor
    counts too. A session that continues one of another package has no proof, and began at a time
    that its record does not have; no second factor gives it two factors."""
    if reach.unproven_since is None:
        return False
    # A proof that was withdrawn since, with its factor, had its time too.
    proofs = [*(event.at for event in record), *filter(None, [record.withdrawn])]
    earliest = reach.unproven_since.timestamp() - RECENT.total_seconds()
    return bool(proofs) and max(proofs).timestamp() < earliest


@clock.once
def challenge(person: Person, session: Session, record: Record, need: Need) -> Offer:
    """A challenge of this session for a level. Raises `StepUpUnavailable`."""
    level = level_of(person, need)
    offered = methods(person, record, level)
    moment, nonce = f"{clock.timestamp():.6f}", secrets.token_urlsafe(16)
    issued = f"{session.pk.hex}:{level}:{','.join(offered)}:{moment}:{nonce}"
    token = Secret(secret.signer(_PURPOSE).sign(issued))
    options: dict[str, Any] = {}
    for factor in plugs(SecondFactor):
        if factor.method in offered:
            options |= factor.options(person, token, level)
    return Offer(token, level, offered, options)


@clock.once
def answer(
    person: Person,
    session: Session,
    record: Record,
    temp_token: Secret,
    proof: Answer,
    client: Client,
) -> Level:
    """Check a proof by the function that checks it at a login, store it with the session, and
    return the level that it proves. The object `session` gets the new values.

    Raises `InvalidToken` for a challenge of another session, an expired one, one that was answered,
    and for a session that ended meanwhile; `StepUpRequired` if this proof cannot reach the level;
    and what the check of the proof raises.
    """
    level, offered = _read(temp_token, session, record)

    def record_event() -> None:
        events.record("auth.step_up", person, client, method=proof.method, level=level)

    def stored_with(proofs: tuple[str, ...]) -> Along:
        """The UPDATE that stores these proofs with the session, and the event to record after."""
        return Along(sessions.proof_statement(session, record.text, proofs), record_event)

    if proof.method == PASSWORD:
        _require_enough(("pwd",), level)
        with _recorded(person, client, proof.method):
            login.check_own_password(person, proof.password, client, method=_PURPOSE)
        _store(stored_with(("pwd",)))
        return level
    factor = next((entry for entry in plugs(SecondFactor) if entry.method == proof.method), None)
    if factor is None:
        raise InvalidToken
    if proof.method == CODE_METHOD:
        proofs = _require_enough(_together(record, (CODE,)), level)
        # A factor that was set up after the challenge does not answer it.
        if proof.method not in offered:
            raise InvalidToken
        with _recorded(person, client, proof.method):
            # Counts the attempt, and stores the proofs in the transaction that uses the code.
            factor.verify(person, proof.code, client, along=stored_with(proofs))
        return level
    with _recorded(person, client, proof.method):
        # `examine` counts nothing: count the attempt here, and give it back if it was right.
        network = lockout.count_network(person, client)
        evidence = factor.examine(person, proof.credential, temp_token, client)
        lockout.refund_throttle(network)
    proofs = _require_enough(_together(record, evidence.proofs), level)
    _store(stored_with(proofs), evidence.use)
    return level


def _store(proof: Along, use: Callable[[], bool] = lambda: True) -> None:
    """Use up the proof by `use`, and store it. Raises `InvalidToken` if either is no longer
    possible."""
    with transaction.atomic(using=databases.primary()):
        if not use() or not proof.update.run():
            raise InvalidToken
        proof.then()


def _require_enough(proofs: tuple[str, ...], level: Level) -> tuple[str, ...]:
    reached = levels.of(proofs)
    if reached is None or not levels.includes(reached, level):
        raise errors.step_up_required(level, None)
    return proofs


def _together(record: Record, second: tuple[str, ...]) -> tuple[str, ...]:
    """The authentication methods of this session's first factor and of a second one."""
    if MFA in second:
        return second
    first = record.first
    return (*first, *second, MFA) if first else second


def _read(temp_token: Secret, session: Session, record: Record) -> tuple[Level, Collection[str]]:
    """The level that a challenge of this session asks for, and the methods that it offers. Raises
    `InvalidToken`."""
    try:
        issued = secret.signer(_PURPOSE).unsign(temp_token.reveal())
    except signing.BadSignature as error:
        raise InvalidToken from error
    session_id, level, offered, seconds, _ = issued.split(":")
    began = datetime.fromtimestamp(float(seconds), UTC)
    moments = [record.last(levels.by_name(level)), record.withdrawn]
    answered = any(moment is not None and moment >= began for moment in moments)
    if session_id != session.pk.hex or answered or clock.utc() - began > _TTL:
        raise InvalidToken
    return levels.by_name(level), offered.split(",")


@contextmanager
def _recorded(person: Person, client: Client, method: str) -> Iterator[None]:
    """Record a wrong proof: an attacker with a stolen session may try here."""
    try:
        yield
    except Fault as fault:
        if fault.status == errors.InvalidCredentials.status:  # 401: the proof was refused
            events.record("auth.step_up.failed", person, client, method=method)
        raise
