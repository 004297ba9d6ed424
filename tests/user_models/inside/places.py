"""Every way by which the service saves a row of the project's users.

Each function takes the client, the tokens of Ann, and the flows; it returns a function that saves.
"""

from django.contrib.auth import get_user_model
from rest_framework import serializers

from authservice.core.messages import kinds
from authservice.core.models import Account
from tests.magiclink.magic import Magic
from tests.oauth.browsing import Browser, profile
from tests.oauth.in_process import office
from tests.support.client import PASSWORD
from tests.support.flows import NEW

User = get_user_model()
BOB, CID = "bob@example.com", "cid@example.com"


class Alias(serializers.Serializer):
    """An extra field of the profile, under another name than its column has."""

    alias = serializers.CharField(source="nickname")


PROFILE = f"{__name__}.Alias"


def sign_up(api, ann, flows):
    return lambda: api.post("signup", email=BOB, username="bob", password=PASSWORD)


def sign_up_without_name(api, ann, flows):
    return lambda: api.post("signup", email=BOB, password=PASSWORD)


def provider(api, ann, flows):
    return lambda: Browser(api).sign_in(profile("bob-at-acme", BOB))


def native(api, ann, flows):
    nonce = api.post("oauth/acme/nonce").data["nonce"]
    token = office.id_token(profile("bob-at-acme", BOB), nonce)
    return lambda: api.post("oauth/acme/token", id_token=token, nonce=nonce)


def change_username(api, ann, flows):
    body = {"username": "anna", "password": PASSWORD}
    return lambda: api.request("PUT", "change-username", body, token=ann["access_token"])


def profile_update(api, ann, flows):
    return lambda: api.request("PUT", "profile", {"alias": "annie"}, token=ann["access_token"])


def change_email(api, ann, flows):
    api.post("change-email", email=BOB, password=PASSWORD, token=ann["access_token"])
    token = flows.post.token(kinds.CHANGE_EMAIL)
    return lambda: api.request("POST", "change-email/confirm", {"token": token})


def change_password(api, ann, flows):
    body = {"old_password": PASSWORD, "new_password": NEW}
    return lambda: api.request("PUT", "change-password", body, token=ann["access_token"])


def reset(api, ann, flows):
    token = flows.reset_token()
    return lambda: flows.reset(token)


def super_admin(ann):
    Account.objects.update(is_super_admin=True)
    return ann["access_token"]


def staff_create(api, ann, flows):
    token = super_admin(ann)
    return lambda: api.post("admin/users", email=BOB, username="bob", token=token)


def staff_update(api, ann, flows):
    api.sign_up(CID, username="cid")
    token, cid = super_admin(ann), User.objects.get(username="cid")
    return lambda: api.request("PUT", f"admin/users/{cid.pk}", {"email": BOB}, token=token)


def accept_invitation(api, ann, flows):
    answer = api.post("invitations", email=BOB, token=ann["access_token"])
    assert answer.status == 201, answer.body
    token = flows.post.token("invitation")
    body = {"token": token, "name": "Bob", "password": PASSWORD}
    return lambda: api.request("POST", "invitations/accept", body)


def accept_org_invitation(api, ann, flows):
    org = api.post("org", name="Owls", token=ann["access_token"]).data["id"]
    answer = api.post(f"org/{org}/invite", email=BOB, role="member", token=ann["access_token"])
    assert answer.status == 201, answer.body
    token = flows.post.token("org-invitation")
    body = {"token": token, "name": "Bob", "password": PASSWORD}
    return lambda: api.request("POST", "org/invitations/accept", body)


def suspend(api, ann, flows):
    return staff_action(api, ann, "suspend")


def reactivate(api, ann, flows):
    save = staff_action(api, ann, "reactivate")
    User.objects.filter(username="cid").update(is_active=False)
    return save


def staff_action(api, ann, action):
    api.sign_up(CID, username="cid")
    token, cid = super_admin(ann), User.objects.get(username="cid")
    return lambda: api.post(f"admin/users/{cid.pk}/{action}", token=token)


def unproven(api, flows):
    """A token by which the owner of Cid's address proves it, which removes the password."""
    api.sign_up(CID, username="cid")
    return Magic(api, flows.post).mailed(CID).token


def first_proof(api, ann, flows):
    token = unproven(api, flows)
    return lambda: Magic(api, flows.post).follow(token)


def first_proof_by_provider(api, ann, flows):
    api.sign_up(CID, username="cid")
    return lambda: Browser(api).sign_in(profile("cid-at-acme", CID))


def deny(api, ann, flows):
    """The owner of Cid's address says that somebody else signed up."""
    api.sign_up(CID, username="cid")
    body = {"token": flows.email_token(CID), "email": CID, "decision": "deny"}
    return lambda: api.request("POST", "verify-email", body)


def secure(api, ann, flows):
    body = {"old_password": PASSWORD, "new_password": NEW}
    assert api.request("PUT", "change-password", body, token=ann["access_token"]).status == 200
    token = flows.post.token(kinds.PASSWORD_CHANGED)
    return lambda: api.request("POST", "account/secure", {"token": token})


SET_PASSWORD = (
    *(sign_up, sign_up_without_name, change_password, reset),
    *(accept_invitation, accept_org_invitation),
)
PLACES = (
    *SET_PASSWORD,
    *(provider, native, change_username, profile_update, change_email, staff_create, staff_update),
    *(suspend, reactivate, first_proof, first_proof_by_provider, deny, secure),
)
