"""The forms of all pages by their routes: how a person reaches each, and what to type so that it
acts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.urls import get_resolver

from authservice.core.messages import kinds
from authservice.core.models import Session
from authservice.organization.models import Membership, OrganizationInvitation
from tests.oauth.in_process import SETTINGS as ACME
from tests.oauth.in_process import office
from tests.pages.inside import serializers
from tests.pages.inside.person import PASSKEY, Page, Person
from tests.pages.inside.test_passkeys import ADD, add, open_form, options_of
from tests.pages.inside.test_providers import link
from tests.passkeys.authenticator import Authenticator
from tests.support.client import PASSWORD, Api
from tests.support.flows import ANN, NEW, PHONE, prove
from tests.support.messenger.post import Post
from tests.support.people import the_user
from tests.twofactor import people

BOB = "bob@example.com"
EXTRA = {"size": "m", "birthday": "2001-02-03"}
SETTINGS = {
    "ALLOW_SELF_DELETE": True,
    "PROFILE_SERIALIZER": "tests.pages.inside.serializers.Details",
    "SIGNUP_SERIALIZER": "tests.pages.inside.serializers.Extra",
}


@dataclass
class Scene:
    """Ann has an account; `person` is her browser. `token` is her access token of the API."""

    person: Person
    api: Api
    post: Post
    token: str
    device: Authenticator = field(default_factory=Authenticator)

    def own(self, path: str) -> Page:
        """A page of the account, after a sign-in."""
        self.person.enter(ANN, PASSWORD)
        return self.person.open(f"/auth/account/{path}")

    def organization(self) -> str:
        """The id of an organization that Ann owns."""
        prove()
        made = self.api.post("org", token=self.token, name="Acme")
        return str(made.data["id"])

    def bob(self, org_id: str, role: str = "member") -> str:
        """The id of another member."""
        member = self.api.sign_up(BOB, **EXTRA)["user"]["id"]
        Membership.objects.create(organization_id=org_id, user_id=member, role=role)
        return str(member)

    def factor(self) -> people.Person:
        """The authenticator app of Ann. She is signed out everywhere."""
        user_id = str(the_user(ANN).pk)
        return people.Person(self.api, token=self.token, user_id=user_id).enrol()


def begin(person: Person, api: Api, post: Post, ann: Any, configure: Any) -> Scene:
    office.reset()
    serializers.details.clear()
    configure(CORE=SETTINGS, OAUTH={"PROVIDERS": {"acme": ACME}})
    return Scene(person, api, post, ann["access_token"])


@dataclass
class Filled:
    """A page with a form, and what to type."""

    page: Page
    typed: Mapping[str, Any] = field(default_factory=dict)
    form: Any = -1


Reach = Callable[[Scene], Filled]


def public(path: str, **typed: str) -> Reach:
    return lambda scene: Filled(scene.person.open(f"/auth/{path}"), typed)


def own(path: str, **typed: str) -> Reach:
    return lambda scene: Filled(scene.own(path), typed)


def of_organization(form: str, **typed: str) -> Reach:
    def reach(scene: Scene) -> Filled:
        org_id = scene.organization()
        return Filled(scene.own(f"organizations/{form}?id={org_id}"), typed)

    return reach


def of_member(form: str, **typed: str) -> Reach:
    def reach(scene: Scene) -> Filled:
        org_id = scene.organization()
        path = f"organizations/{form}?id={org_id}&user={scene.bob(org_id)}"
        return Filled(scene.own(path), typed)

    return reach


def leave(scene: Scene) -> Filled:
    org_id = scene.organization()
    scene.bob(org_id, "owner")
    return Filled(scene.own(f"organizations/leave?id={org_id}"))


def uninvite(scene: Scene) -> Filled:
    org_id = scene.organization()
    scene.api.post(f"org/{org_id}/invite", token=scene.token, email=BOB)
    invitation = OrganizationInvitation.objects.get()
    return Filled(scene.own(f"organizations/uninvite?id={org_id}&invitation={invitation.pk}"))


def second_factor(scene: Scene) -> Filled:
    factor = scene.factor()
    return Filled(scene.person.sign_in(ANN, PASSWORD), {"code": factor.code(1)})


def with_factor(form: str) -> Reach:
    def reach(scene: Scene) -> Filled:
        factor = scene.factor()
        page = scene.person.sign_in(ANN, PASSWORD)
        scene.person.send(page, code=factor.backup_codes[0])
        page = scene.person.open(f"/auth/account/security/{form}")
        return Filled(page, {"code": factor.code(1)})

    return reach


def factor_code(scene: Scene) -> Filled:
    page = scene.person.send(scene.own("security/factor"), password=PASSWORD)
    secret = re.search(r"<code>([A-Z2-7]{16,})</code>", page.html)[1]
    return Filled(page, {"code": people.app_of(f"otpauth://totp/x?secret={secret}").now()})


def set_password(scene: Scene) -> Filled:
    prove()
    user = the_user(ANN)
    user.set_unusable_password()
    user.save()
    scene.person.send(scene.person.open("/auth/magic-link/send"), email=ANN)
    scene.person.open(scene.post.link("magic-link"))
    return Filled(scene.person.open("/auth/account/security/set-password"))


def magic_code(scene: Scene) -> Filled:
    page = scene.person.send(scene.person.open("/auth/magic-link/send"), email=ANN)
    return Filled(page, {"code": scene.post.code("magic-link")}, 0)


def unlink(scene: Scene) -> Filled:
    prove()
    scene.own("security")
    link(scene.person)
    return Filled(scene.person.open("/auth/account/security/unlink?id=acme"))


def new_passkey(scene: Scene) -> Filled:
    scene.own("security")
    page = scene.person.send(scene.person.open(ADD), name="Phone")
    credential = scene.device.create(options_of(page))
    return Filled(page, {"credential": json.dumps(credential)}, PASSKEY)


def of_passkey(form: str, **typed: str) -> Reach:
    def reach(scene: Scene) -> Filled:
        scene.own("security")
        add(scene.person, scene.device)
        return Filled(open_form(scene.person, form), typed)

    return reach


def passkey_login(scene: Scene) -> Filled:
    scene.own("security")
    add(scene.person, scene.device)
    scene.person.client.logout()
    page = scene.person.open("/auth/login")
    return Filled(page, {"credential": json.dumps(scene.device.get(options_of(page)))}, PASSKEY)


def phone_send(scene: Scene) -> Filled:
    prove()
    scene.person.send(scene.own("profile/phone"), phone=PHONE, password=PASSWORD)
    return Filled(scene.person.open("/auth/account/profile/phone-send"))


def phone_code(scene: Scene) -> Filled:
    page = scene.person.send(phone_send(scene).page)
    return Filled(page, {"code": scene.post.code(kinds.VERIFY_PHONE)})


def log_out(scene: Scene) -> Filled:
    scene.own("profile")
    return Filled(scene.person.open("/auth/logout"))


def step_up(scene: Scene) -> Filled:
    scene.own("profile")
    return Filled(scene.person.open("/auth/confirm?next=/orders"), {"password": PASSWORD})


def end_another(scene: Scene) -> Filled:
    """The sessions of Ann are the one of her sign-up, by the API, and that of her browser."""
    other = Session.objects.get()
    return Filled(scene.own(f"sessions/end?id={other.pk}"))


FORMS: dict[str, Reach] = {
    "page-login": public("login", identifier=ANN, password=PASSWORD),
    "page-signup": public("signup", name="Bob", email=BOB, password=PASSWORD, **EXTRA),
    "page-forgot-password": public("forgot-password", email=ANN),
    "page-magic-link": public("magic-link/send", email=ANN),
    "page-magic-code": magic_code,
    "page-verify": public("send-verification-email", email=ANN),
    "page-passkey-login": passkey_login,
    "page-second-factor": second_factor,
    "page-step-up": step_up,
    "page-logout": log_out,
    "page-account-profile-name": own("profile/name", name="Mallory"),
    "page-account-profile-details": own("profile/details", motto="Veni", size="m"),
    "page-account-profile-email": own("profile/email", email=BOB, password=PASSWORD),
    "page-account-profile-confirm-email": own("profile/confirm-email"),
    "page-account-profile-username": own("profile/username", username="mallory", password=PASSWORD),
    "page-account-profile-phone": own("profile/phone", phone=PHONE, password=PASSWORD),
    "page-account-profile-phone-send": phone_send,
    "page-account-profile-phone-code": phone_code,
    "page-account-profile-export": own("profile/export"),
    "page-account-profile-delete": own("profile/delete", password=PASSWORD),
    "page-account-security-password": own(
        "security/password", old_password=PASSWORD, new_password=NEW
    ),
    "page-account-security-set-password": set_password,
    "page-account-security-factor": own("security/factor", password=PASSWORD),
    "page-account-security-factor-code": factor_code,
    "page-account-security-factor-off": with_factor("factor-off"),
    "page-account-security-backup-codes": with_factor("backup-codes"),
    "page-account-security-link": own("security/link?id=acme", password=PASSWORD),
    "page-account-security-unlink": unlink,
    "page-account-security-passkey": new_passkey,
    "page-account-security-passkey-change": of_passkey("passkey-change", name="Blue key"),
    "page-account-security-passkey-remove": of_passkey("passkey-remove"),
    "page-account-organizations-create": own("organizations/create", name="Acme"),
    "page-account-organizations-switch": of_organization("switch"),
    "page-account-organizations-rename": of_organization("rename", name="Plum"),
    "page-account-organizations-invite": of_organization("invite", email=BOB, role="admin"),
    "page-account-organizations-uninvite": uninvite,
    "page-account-organizations-role": of_member("role", role="admin"),
    "page-account-organizations-remove": of_member("remove"),
    "page-account-organizations-leave": leave,
    "page-account-organizations-delete": of_organization("delete"),
}
# Their only form is that of the sign-out, which leads to another page.
WITHOUT_FORM = [
    "page-account",
    "page-account-profile",
    "page-account-security",
    "page-account-organizations",
    "page-account-activity",
    "page-preview",
]
if apps.is_installed("authservice.session"):
    FORMS["page-account-sessions-end"] = end_another
    FORMS["page-account-sessions-end-others"] = own("sessions/end-others")
    WITHOUT_FORM.append("page-account-sessions")


def route_names() -> set[str]:
    """The names of the routes of all pages that this project has."""
    names = get_resolver().namespace_dict["authservice"][1].reverse_dict
    return {str(name) for name in names if str(name).startswith("page-")}
