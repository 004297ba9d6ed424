"""Links from responses to the requests that take values of them, such as the id of a created row.

Tools that follow links send sequences of requests: https://spec.openapis.org/oas/v3.1.1#link-object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from authservice.openapi.response_schemas import named
from authservice.openapi.routes import Route

Schema = dict[str, Any]


@dataclass(frozen=True)
class _Values:
    """Values of an answer that the routes at `path` and below it take. `pointers` has a JSON
    pointer into the answer, without the first slash, by the name of the parameter or field that
    takes the value."""

    path: str
    pointers: Mapping[str, str]


_USER_ID = {"user_id": "id"}
_ORGANIZATION = _Values("/org/{org_id}", {"org_id": "org_id"})
_MEMBER = _Values("/org/{org_id}/members/{user_id}", {"org_id": "org_id", "user_id": "user_id"})
_REFRESH = _Values("/refresh", {"refresh_token": "refresh_token"})
_CHALLENGE = {"temp_token": "challenges/0/data/temp_token"}
# By the name of the type of an answer.
_LINKED: Mapping[str, Sequence[_Values]] = {
    "AdminUser": (
        _Values("/admin/users/{user_id}", _USER_ID),
        _Values("/admin/audit/users/{user_id}", _USER_ID),
    ),
    "AuditEntry": (
        _Values("/admin/audit/actions/{action}", {"action": "action"}),
        _Values("/admin/audit/users/{user_id}", {"user_id": "actor_id"}),
    ),
    "Authenticated": (_REFRESH,),
    "Challenged": (
        _Values("/2fa/verify-login", _CHALLENGE),
        _Values("/2fa/setup-login", _CHALLENGE),
    ),
    "SentInvitation": (_Values("/invitations/{invitation_id}", {"invitation_id": "id"}),),
    "InvitationAccepted": (_REFRESH,),
    "Member": (_ORGANIZATION, _MEMBER),
    "Membership": (_ORGANIZATION, _MEMBER),
    "SentOrgInvitation": (
        _ORGANIZATION,
        _Values(
            "/org/{org_id}/invitations/{invitation_id}",
            {"org_id": "org_id", "invitation_id": "id"},
        ),
    ),
    "OrgInvitationAccepted": (_REFRESH,),
    "Organization": (
        _Values("/org/{org_id}", {"org_id": "id"}),
        _Values("/org/{org_id}/members/{user_id}", {"org_id": "id", "user_id": "owner_id"}),
        _Values("/org/switch", {"org_id": "id"}),
    ),
    "ProviderEntry": (_Values("/oauth/{provider}", {"provider": "name"}),),
    "Refreshed": (_REFRESH,),
    "Session": (_Values("/sessions/{session_id}", {"session_id": "id"}),),
    "SignedInByProvider": (_REFRESH,),
    "SwitchedTokens": (_REFRESH,),
}


def of_answer(answer: Any, source: Route, targets: Sequence[Route]) -> Schema:
    """The links of a response whose `data` has the type `answer`, by the id of their operation."""
    links: Schema = {}
    candidates = (
        (pointer, values, target)
        for pointer, kind in _types(answer, "/data")
        for values in _LINKED.get(kind, ())
        for target in targets
        if target is not source
    )
    for pointer, values, target in candidates:
        # A route at or below the path of these values that needs no other parameters takes them.
        below = f"{target.path}/".startswith(f"{values.path}/")
        if not below or not set(target.parameters) <= set(values.pointers) or target.id in links:
            continue
        expressions = {
            name: f"$response.body#{pointer}/{place}" for name, place in values.pointers.items()
        }
        parameters = {name: text for name, text in expressions.items() if name in target.parameters}
        body = {name: text for name, text in expressions.items() if name not in target.parameters}
        links[target.id] = {
            "operationId": target.id,
            **({"parameters": parameters} if parameters else {}),
            **({"requestBody": body} if body else {}),
        }
    return links


def _types(hint: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """The types in an answer, and where they are: for a list, its first entry."""
    if get_origin(hint) is list:
        yield from _types(get_args(hint)[0], f"{pointer}/0")
    elif is_typeddict(get_origin(hint)):
        # The one generic type of answers, a page of a list.
        yield from _types(list[get_args(hint)[0]], f"{pointer}/list")  # type: ignore[misc]
    elif is_typeddict(hint):
        yield pointer, named(hint)
        for name, field in get_type_hints(hint).items():
            if is_typeddict(field) or get_origin(field) is list:
                yield from _types(field, f"{pointer}/{name}")
    else:
        for member in get_args(hint):
            yield from _types(member, pointer)
