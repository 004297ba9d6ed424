"""Organizations: create, switch, invite, members and their roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from authservice.core.users import person as people
from authservice.kernel import settings
from authservice.kernel.languages import page_text as _
from authservice.kernel.rules import EVERYONE
from authservice.pages import calls, form_fields
from authservice.pages.account_pages import Part, part_of, url_of
from authservice.pages.account_section import AccountSection, Action, Box, Form, Row
from authservice.pages.calls import Answer
from authservice.pages.form_fields import Field
from authservice.pages.visitor import Visitor


def _query(name: str) -> Any:
    """A function that returns the parameter `name` in the address of the visitor's page."""

    def read(visitor: Visitor) -> str:
        value: str = visitor.request.GET.get(name, "")
        return value

    return read


# Characters of a name in a list. The API permits 255, and a row may have an address too.
_LONGEST = 100
_org, _user, _invitation = _query("id"), _query("user"), _query("invitation")


def _may_create(visitor: Visitor) -> bool:
    who_may = settings.find("ORGANIZATION", "who_may_create", EVERYONE)
    return people.allows(who_may, visitor.person)


def _created(visitor: Visitor, answer: Answer) -> Any:
    """The next page: the list, or the question whether to work for the new organization if a view
    for members of the active one had led the visitor to the list."""
    url = url_of("organizations")
    if visitor.next:
        url = visitor.url("page-account-organizations-switch", id=answer.data["id"])
    return visitor.go(url, str(_("The organization was created.")))


class Organizations(AccountSection):
    """The section of the organization module."""

    name, icon = "organizations", "building"

    def label(self) -> Any:
        return _("Organizations")

    def intro(self) -> Any:
        return _("The organizations that you belong to.")

    def is_shown(self) -> bool:
        return calls.exists("org-my")

    def boxes(self, visitor: Visitor) -> Sequence[Box]:
        if _org(visitor):
            return _boxes_of_one(visitor, _org(visitor))
        title = _("Your organizations")
        organizations = part_of(visitor, "org-my", about=title)
        active_id = visitor.caller and visitor.caller.organization_id
        create_url = visitor.url("page-account-organizations-create")
        create = Action(label=_("Create one"), url=create_url, main=True)
        create_actions = [create] if _may_create(visitor) else []
        rows = []
        for organization in organizations.rows:
            org_id, name = organization["id"], _cut(organization["name"])
            actions = [Action(label=_("Open"), about=name, url=f"?id={org_id}")]
            if org_id != active_id:
                switch_url = visitor.url("page-account-organizations-switch", id=org_id)
                actions.append(Action(label=_("Switch"), about=name, url=switch_url))
            row = Row(
                label=name,
                hint=organization["slug"],
                tag=_("Active") if org_id == active_id else "",
                tone="good",
                icon="building",
                actions=actions,
            )
            rows.append(row)
        empty = _("You belong to no organization yet.")
        # A view for members of the active organization, or an accepted invitation, led here.
        asks = bool(rows and visitor.next)
        text = _("Switch to the organization that you want to work for.") if asks else ""
        boxes = [_box(title, rows, organizations, text=text, actions=create_actions, empty=empty)]
        title = _("Invitations")
        invitations = part_of(visitor, "org-my-invitations", about=title, name="invitations")
        rows = []
        for invitation in invitations.rows:
            hint = _("Open the link in the mail to %(email)s.") % {"email": invitation["email"]}
            name = _cut(invitation["organization"]["name"])
            rows.append(Row(label=name, hint=hint, icon="building"))
        if invitations.total:
            boxes.append(_box(title, rows, invitations))
        return boxes

    forms = (
        Form(
            name="create",
            title=_("Create an organization"),
            is_offered=_may_create,
            button=_("Create"),
            fields=lambda visitor: [
                Field(name="name", label=_("Name"), autocomplete="organization"),
            ],
            send=lambda visitor, body: visitor.call("org", "POST", body),
            after=_created,
        ),
        Form(
            name="switch",
            title=_("Work for this organization?"),
            button=_("Switch"),
            send=lambda visitor, body: _switch(visitor),
            after=lambda visitor, answer: visitor.go(visitor.next or url_of("organizations")),
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
                    value=_organization(visitor)["name"],
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
            fields=lambda visitor: [
                replace(form_fields.EMAIL, autocomplete="off"),
                _role_field(visitor),
            ],
            send=lambda visitor, body: visitor.call(
                "org-invite", "POST", body, path={"org_id": _org(visitor)}
            ),
            after=lambda visitor, answer: _back(visitor, _invited(answer)),
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
            fields=lambda visitor: [
                _role_field(visitor, visitor.data("org-member", path=_member_path(visitor))["role"])
            ],
            send=lambda visitor, body: visitor.call(
                "org-member", "PUT", body, path=_member_path(visitor)
            ),
            after=lambda visitor, answer: _back(visitor, _("The role was changed.")),
        ),
        Form(
            name="remove",
            title=_("Remove this member?"),
            button=_("Remove"),
            danger=True,
            send=lambda visitor, body: visitor.call(
                "org-member", "DELETE", path=_member_path(visitor)
            ),
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


def _boxes_of_one(visitor: Visitor, org_id: str) -> Sequence[Box]:
    organization = _organization(visitor)
    path = {"org_id": org_id}
    may = organization["may"]
    title = _("Members")
    members = part_of(visitor, "org-members", about=title, name="members", path=path)
    rows = []
    for member in members.rows:
        user = member["user"]
        role = _role_label(member["role"])
        name = _cut(user["name"]) or user["email"] or user["username"]
        is_visitor = member["user_id"] == visitor.person.id
        manages = not is_visitor and _manages(organization, member["role"])
        actions = []
        query = {"user": member["user_id"]}
        if manages and "change_roles" in may:
            actions.append(_link(_("Change role"), "role", org_id, about=name, **query))
        if manages and "remove" in may:
            actions.append(_link(_("Remove"), "remove", org_id, about=name, danger=True, **query))
        tag = f"{_('You')} · {role}" if is_visitor else role
        row = Row(label=name, hint=user["email"], tag=tag, mark=_initial(name), actions=actions)
        rows.append(row)
    rename = [_link(_("Rename"), "rename", org_id)] if "update" in may else []
    invite = [_link(_("Invite"), "invite", org_id, main=True)] if "invite" in may else []
    boxes = [
        Box(title=organization["name"], text=organization["slug"], actions=rename),
        _box(title, rows, members, actions=invite),
    ]
    if "invite" in may:
        boxes += _invitations(visitor, organization)
    ending = [_link(_("Leave"), "leave", org_id, danger=True)]
    if "delete" in may:
        ending.append(_link(_("Delete"), "delete", org_id, danger=True))
    return [*boxes, Box(title=_("Leave or delete"), actions=ending)]


def _organization(visitor: Visitor) -> Any:
    """The organization of the page, and what the visitor may do in it."""
    return visitor.data("org-one", path={"org_id": _org(visitor)})


def _invitations(visitor: Visitor, organization: Mapping[str, Any]) -> list[Box]:
    title = _("Invitations")
    part = part_of(
        visitor,
        "org-invitations",
        about=title,
        name="invitations",
        query="status=pending",
        path={"org_id": organization["id"]},
    )
    if not part.total:
        return []
    rows = []
    for invitation in part.rows:
        email = invitation["email"]
        actions = []
        if _manages(organization, invitation["role"]):
            withdraw = _link(
                _("Withdraw"),
                "uninvite",
                organization["id"],
                about=email,
                danger=True,
                invitation=invitation["id"],
            )
            actions.append(withdraw)
        rows.append(Row(label=email, hint=_role_label(invitation["role"]), actions=actions))
    return [_box(title, rows, part)]


def _manages(organization: Mapping[str, Any], role: str) -> bool:
    """Whether the visitor may change members with this role. Owners and admins may also change
    members whose role is no longer one of the project."""
    if role in calls.choices("org-invite", "role"):
        return role in organization["manages"]
    return organization["role"] in ("owner", "admin")


def _box(title: Any, rows: Sequence[Row], part: Part, **options: Any) -> Box:
    return Box(title=title, rows=rows, links=part.links, range=part.range, **options)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _initial(name: str) -> SafeString:
    return format_html("<b>{}</b>", name[:1].upper())


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
    """A button that leads to a form about an organization; `query` names a member or invitation."""
    extra_query = "".join(f"&{name}={value}" for name, value in query.items())
    url = f"{url_of('organizations', form)}?id={org_id}{extra_query}"
    return Action(label=label, about=about, url=url, danger=danger, main=main)


def _switch(visitor: Visitor) -> Answer:
    answer = visitor.call("org-switch", "POST", {"org_id": _org(visitor)})
    if answer.fault is None:
        visitor.renew(answer)  # its claims have the organization now
    return answer


def _back(visitor: Visitor, notice: str) -> Any:
    """The redirect to the page of the organization."""
    return visitor.go(f"{url_of('organizations')}?id={_org(visitor)}", notice)


def _invited(answer: Answer) -> str:
    """Whether the invitation was mailed: the recipient may get no more mails today."""
    return str(_("The invitation was sent.") if answer.data["mailed"] else answer.data["message"])


def _member_path(visitor: Visitor) -> dict[str, str]:
    return {"org_id": _org(visitor), "user_id": _user(visitor)}


def _role_field(visitor: Visitor, value: str = "member") -> Field:
    """The roles that the visitor may give."""
    names = _organization(visitor)["manages"]
    return Field(
        name="role",
        label=_("Role"),
        type=form_fields.SELECT,
        choices=[(name, _role_label(name)) for name in names],
        value=value,
    )


def _role_label(name: str) -> str:
    labels = {"owner": _("Owner"), "admin": _("Admin"), "member": _("Member")}
    return labels.get(name, name.replace("_", " ").capitalize())


section = Organizations()
