"""Organizations: create, switch, invite, members and their roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from authservice.core.api import django_session
from authservice.kernel.phrases import page_text as _
from authservice.kernel.secret import Secret
from authservice.pages import calls, form_fields
from authservice.pages.account_pages import url_of
from authservice.pages.account_section import AccountSection, Action, Box, Form, Row
from authservice.pages.calls import Answer
from authservice.pages.form_fields import Field
from authservice.pages.visitor import Visitor


def _query(name: str) -> Any:
    def read(visitor: Visitor) -> str:
        found: str = visitor.request.GET.get(name, "")
        return found

    return read


_org, _user, _invitation = _query("id"), _query("user"), _query("invitation")


class Organizations(AccountSection):
    """The section of the organization module."""

    name, icon = "organizations", "building"

    def label(self) -> Any:
        return _("Organizations")

    def intro(self) -> Any:
        return _("Whom you work with.")

    def is_shown(self) -> bool:
        return calls.exists("org-my")

    def boxes(self, visitor: Visitor) -> Sequence[Box]:
        if _org(visitor):
            return _one(visitor, _org(visitor))
        mine, active = (
            visitor.data("org-my"),
            visitor.caller and visitor.caller.claims.get("org_id"),
        )
        create = Action(label=_("Create one"), url=url_of("organizations", "create"), main=True)
        rows = [
            Row(
                label=one["name"],
                hint=one["slug"],
                tag=_("Active") if one["id"] == active else "",
                tone="good",
                icon="building",
                actions=[
                    Action(label=_("Open"), about=one["name"], url=f"?id={one['id']}"),
                    *([] if one["id"] == active else [_switch(one)]),
                ],
            )
            for one in mine
        ]
        empty = _("You belong to no organization yet.")
        boxes = [Box(title=_("Your organizations"), rows=rows, actions=[create], empty=empty)]
        if invited := [one for one in visitor.data("org-my-invitations") if _is_open(one)]:
            boxes.append(Box(title=_("Invitations"), rows=[_invited(one) for one in invited]))
        return boxes

    forms = (
        Form(
            name="create",
            title=_("Create an organization"),
            button=_("Create"),
            done=_("The organization was created."),
            fields=lambda visitor: [
                Field(name="name", label=_("Name"), autocomplete="organization"),
            ],
            send=lambda visitor, body: visitor.call("org", "POST", body),
        ),
        Form(
            name="switch",
            title=_("Work for this organization?"),
            button=_("Switch"),
            send=lambda visitor, body: _switched(visitor),
        ),
        Form(
            name="rename",
            title=_("Name of the organization"),
            button=_("Save"),
            fields=lambda visitor: [
                Field(
                    name="name",
                    label=_("Name"),
                    autocomplete="organization",
                    value=visitor.data("org-one", path={"org_id": _org(visitor)})["name"],
                )
            ],
            send=lambda visitor, body: visitor.call(
                "org-one", "PUT", body, path={"org_id": _org(visitor)}
            ),
            done=_("The name was changed."),
            after=lambda visitor, answer: _back(visitor, _("The name was changed.")),
        ),
        Form(
            name="invite",
            title=_("Invite somebody"),
            text=_("We mail an invitation with a link."),
            button=_("Invite"),
            fields=lambda visitor: [replace(form_fields.EMAIL, autocomplete="off"), _role_field()],
            send=lambda visitor, body: visitor.call(
                "org-invite", "POST", body, path={"org_id": _org(visitor)}
            ),
            after=lambda visitor, answer: _back(visitor, _("The invitation was sent.")),
        ),
        Form(
            name="uninvite",
            title=_("Withdraw the invitation?"),
            button=_("Withdraw"),
            danger=True,
            send=lambda visitor, body: visitor.call(
                "org-invitation",
                "DELETE",
                path={"org_id": _org(visitor), "invitation_id": _invitation(visitor)},
            ),
            after=lambda visitor, answer: _back(visitor, _("The invitation was withdrawn.")),
        ),
        Form(
            name="role",
            title=_("Change the role"),
            button=_("Save"),
            fields=lambda visitor: [_role_field(_member(visitor)["role"])],
            send=lambda visitor, body: visitor.call("org-member", "PUT", body, path=_path(visitor)),
            after=lambda visitor, answer: _back(visitor, _("The role was changed.")),
        ),
        Form(
            name="remove",
            title=_("Remove this member?"),
            button=_("Remove"),
            danger=True,
            send=lambda visitor, body: visitor.call("org-member", "DELETE", path=_path(visitor)),
            after=lambda visitor, answer: _back(visitor, _("The member was removed.")),
        ),
        Form(
            name="leave",
            title=_("Leave this organization?"),
            button=_("Leave"),
            danger=True,
            done=_("You left the organization."),
            send=lambda visitor, body: visitor.call(
                "org-member",
                "DELETE",
                path={"org_id": _org(visitor), "user_id": visitor.person.id},
            ),
        ),
        Form(
            name="delete",
            title=_("Delete this organization?"),
            text=_("Its members and invitations are deleted for good."),
            button=_("Delete the organization"),
            danger=True,
            done=_("The organization was deleted."),
            send=lambda visitor, body: visitor.call(
                "org-one", "DELETE", path={"org_id": _org(visitor)}
            ),
        ),
    )


def _one(visitor: Visitor, org_id: str) -> Sequence[Box]:
    path = {"org_id": org_id}
    organization = visitor.data("org-one", path=path)
    members = visitor.call("org-members", "GET", path=path)
    invitations = visitor.call("org-invitations", "GET", query="status=pending", path=path)
    mine = visitor.person.id
    rows = [_member_row(org_id, one, mine) for one in members.data or ()]
    manage = invitations.fault is None  # the role permits to invite and to read invitations
    boxes = [
        Box(
            title=organization["name"],
            text=organization["slug"],
            actions=[_link(_("Rename"), "rename", org_id)] if manage else [],
        ),
        Box(
            title=_("Members"),
            rows=rows,
            actions=[_link(_("Invite"), "invite", org_id, main=True)] if manage else [],
        ),
    ]
    if invitations.data:
        waiting = [_waiting(org_id, one) for one in invitations.data]
        boxes.append(Box(title=_("Invitations"), rows=waiting))
    ending = [_link(_("Leave"), "leave", org_id, danger=True)]
    if any(one["user_id"] == mine and one["role"] == "owner" for one in members.data or ()):
        ending.append(_link(_("Delete"), "delete", org_id, danger=True))
    return [*boxes, Box(title=_("Leave or delete"), actions=ending)]


def _member_row(org_id: str, one: Mapping[str, Any], mine: str) -> Row:
    user = one["user"]
    name = user["name"] or user["email"] or user["username"]
    return Row(
        label=name,
        hint=user["email"],
        tag=_("You") if one["user_id"] == mine else _role(one["role"]),
        icon="person",
        actions=[]
        if one["user_id"] == mine
        else [
            _link(_("Role"), "role", org_id, about=name, user=one["user_id"]),
            _link(_("Remove"), "remove", org_id, about=name, danger=True, user=one["user_id"]),
        ],
    )


def _waiting(org_id: str, one: Mapping[str, Any]) -> Row:
    withdraw = _link(
        _("Withdraw"), "uninvite", org_id, about=one["email"], danger=True, invitation=one["id"]
    )
    return Row(label=one["email"], hint=_role(one["role"]), actions=[withdraw])


def _invited(one: Mapping[str, Any]) -> Row:
    hint = _("Open the link in the mail to %(email)s.") % {"email": one["email"]}
    return Row(label=one["organization"]["name"], hint=hint, icon="building")


def _is_open(one: Mapping[str, Any]) -> bool:
    return bool(one["status"] == "pending")


def _link(
    label: Any,
    form: str,
    org_id: str,
    *,
    about: Any = "",
    danger: bool = False,
    main: bool = False,
    **query: str,
) -> Action:
    more = "".join(f"&{name}={value}" for name, value in query.items())
    url = f"{url_of('organizations', form)}?id={org_id}{more}"
    return Action(label=label, about=about, url=url, danger=danger, main=main)


def _switch(one: Mapping[str, Any]) -> Action:
    url = f"{url_of('organizations', 'switch')}?id={one['id']}"
    return Action(label=_("Switch"), about=one["name"], url=url)


def _switched(visitor: Visitor) -> Answer:
    answer = visitor.call("org-switch", "POST", {"org_id": _org(visitor)})
    if answer.fault is None:
        # Django's session carries the claims of the token, which has the organization now.
        django_session.renew(visitor.request, Secret(answer.data["access_token"]))
    return answer


def _back(visitor: Visitor, notice: str) -> Any:
    return visitor.go(f"{url_of('organizations')}?id={_org(visitor)}", notice)


def _path(visitor: Visitor) -> dict[str, str]:
    return {"org_id": _org(visitor), "user_id": _user(visitor)}


def _member(visitor: Visitor) -> Any:
    return visitor.data("org-member", path=_path(visitor))


def _role_field(value: str = "member") -> Field:
    names = calls.choices("org-invite", "role")
    return Field(
        name="role",
        label=_("Role"),
        type=form_fields.SELECT,
        choices=[(name, _role(name)) for name in names],
        value=value,
    )


def _role(name: str) -> str:
    known = {"owner": _("Owner"), "admin": _("Admin"), "member": _("Member")}
    return known.get(name, name.replace("_", " ").capitalize())


section = Organizations()
