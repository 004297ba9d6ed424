"""The pages of the account, as a person uses them."""

import json
import re
from urllib.parse import urlencode, urljoin

import pytest
from django.contrib.auth import get_user_model
from django.urls import get_resolver
from django.utils import timezone

from authservice.core.messages import kinds, sending
from authservice.core.models import Session
from authservice.core.users import lookup
from authservice.pages import calls
from authservice.pages.account.device_section import device
from tests.pages.inside.person import ACCEPT, FORM, Person, set_up_of
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, prove
from tests.twofactor import people

pytestmark = pytest.mark.django_db


def user():
    return get_user_model().objects.get(username="ann")


def submit(person, path, **typed):
    return person.send(person.open(f"/auth/account/{path}"), **typed)


def test_name_is_changed(signed_in):
    page = submit(signed_in, "profile/name", name="Ann Lee")

    assert (page.heading, page.notice) == ("Profile", "Your name was changed.")
    assert "Ann Lee" in page.text
    assert signed_in.open("/auth/account/profile").notice == ""  # shown once


def test_address_is_changed_by_a_mailed_link(signed_in, post):
    page = submit(signed_in, "profile/email", email="lee@example.com", password="wrong")
    assert page.errors == {"password": "This password is not right."}
    page = submit(signed_in, "profile/email", email="lee@example.com", password=PASSWORD)
    assert page.notice == "Open the link that we mailed to your new address."

    page = signed_in.open(post.link(kinds.CHANGE_EMAIL))

    assert page.heading == "Your e-mail address was changed"
    assert "lee@example.com Confirmed" in signed_in.open("/auth/account/profile").text


def test_address_is_confirmed(signed_in, post):
    page = signed_in.open("/auth/account/profile")
    assert "Not confirmed" in page.text

    signed_in.send(signed_in.open(page.link("Confirm")))
    page = signed_in.send(signed_in.open(post.link(kinds.VERIFY_EMAIL)), decision="confirm")

    assert page.heading == "Your e-mail address is confirmed"
    assert "Confirmed" in signed_in.open("/auth/account/profile").text


def test_username_is_changed(signed_in):
    page = submit(signed_in, "profile/username", username="a", password=PASSWORD)
    assert list(page.errors) == ["username"]

    submit(signed_in, "profile/username", username="lee", password=PASSWORD)

    assert signed_in.name == "lee"


def test_number_is_changed_and_confirmed(signed_in, post):
    prove()
    page = submit(signed_in, "profile/phone", phone="+49 30 123-456", password=PASSWORD)
    assert PHONE in page.text

    page = signed_in.send(signed_in.open(page.link("Confirm")))
    assert page.heading == "Confirm your phone number"
    page = signed_in.send(page, code=post.code(kinds.VERIFY_PHONE))

    assert page.notice == "Your phone number is confirmed."


def test_data_is_downloaded_once_an_hour(signed_in):
    page = signed_in.open("/auth/account/profile")
    page = signed_in.open(page.link("Download"))

    action, fields = page.forms[-1]
    sent = {"Accept": ACCEPT, "Origin": "http://testserver"}

    downloaded = signed_in.client.post(
        urljoin(page.url, action), urlencode(fields), content_type=FORM, headers=sent
    )

    assert downloaded.headers["Content-Disposition"].startswith("attachment")
    assert json.loads(downloaded.getvalue())["data"]["complete"] is True

    page = signed_in.send(page)
    assert page.alert.endswith("Try again in 60 minutes.")


def test_account_is_deleted(signed_in, configure):
    assert "Delete account" not in signed_in.open("/auth/account/profile").text
    configure(CORE={"ALLOW_SELF_DELETE": True})
    page = submit(signed_in, "profile/delete", password="wrong")
    assert page.errors == {"password": "This password is not right."}

    page = submit(signed_in, "profile/delete", password=PASSWORD)

    assert page.heading == "You are signed out"
    assert not get_user_model().objects.filter(username="ann").exists()


def test_password_is_changed_and_others_are_signed_out(signed_in):
    other = Person()
    other.enter(ANN, PASSWORD)

    page = submit(signed_in, "security/password", old_password="wrong", new_password=NEW)
    assert page.errors == {"old_password": "This password is not right."}
    page = submit(signed_in, "security/password", old_password=PASSWORD, new_password="ann")
    assert list(page.errors) == ["new_password"]
    page = submit(signed_in, "security/password", old_password=PASSWORD, new_password=NEW)

    assert page.notice == "Your password was changed."
    assert (signed_in.name, other.name) == ("ann", "")


LENGTHS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "authservice.validators.MinimumLengthWithoutFactor"},
]


def test_rules_beside_a_new_password_have_the_one_length_that_applies(signed_in, api, settings):
    settings.AUTH_PASSWORD_VALIDATORS = LENGTHS
    page = signed_in.open("/auth/account/security/password")
    assert re.findall(r"(\d+) characters", page.text) == ["15"]
    page = signed_in.send(page, old_password=PASSWORD, new_password="short")
    assert re.findall(r"(\d+) characters", page.errors["new_password"]) == ["15"]

    page = submit(signed_in, "security/factor", password=PASSWORD)
    secret = re.search(r"<code>([A-Z2-7]{16,})</code>", page.html)[1]
    signed_in.send(page, code=people.app_of(f"otpauth://totp/x?secret={secret}").now())

    page = signed_in.open("/auth/account/security/password")
    assert re.findall(r"(\d+) characters", page.text) == ["10"]


def test_second_factor_is_turned_on_and_off(signed_in):
    page = submit(signed_in, "security/factor", password=PASSWORD)
    secret = re.search(r"<code>([A-Z2-7]{16,})</code>", page.html)[1]
    app = people.app_of(f"otpauth://totp/x?secret={secret}")
    shown = set_up_of(page)
    page = signed_in.send(page, code="000000")
    wrong = "This code is not right, or was used already. Wait for the next one of the app."
    assert page.errors == {"code": wrong}
    assert (page.status, set_up_of(page)) == (400, shown)

    page = signed_in.send(page, code=app.now())
    assert page.notice.startswith("Two-factor authentication is on.")
    assert (signed_in.name, "10 left" in page.text) == ("ann", True)
    page = submit(signed_in, "security/backup-codes", code=app.at(people.time.time() + 30))
    assert len(re.findall(r"<li><code>", page.html)) == 10

    page = signed_in.open("/auth/account/security/factor-off")
    assert 'class="danger main"' in page.html


def test_user_without_a_password_gets_a_link_to_set_one(signed_in, post):
    changed = user()
    prove()
    changed.set_unusable_password()
    changed.save()
    person = Person()
    person.send(person.open("/auth/magic-link/send"), email=ANN)
    person.open(post.link("magic-link"))
    page = person.open("/auth/account/security")
    assert "Not set" in page.text

    page = person.send(person.open(page.link("Set a password")))

    assert page.notice == "Open the link in the mail."
    assert post.link(kinds.RESET_BY_LINK)


def test_organization_from_creation_to_deletion(signed_in, post, api):
    prove()
    page = submit(signed_in, "organizations/create", name="Acme")
    assert page.notice == "The organization was created."
    page = signed_in.open(page.url.split("?")[0] + page.link("Open"))
    signed_in.send(signed_in.open(page.link("Invite")), email="bob@example.com", role="admin")
    page = signed_in.open(page.url)
    assert "bob@example.com Admin" in page.text

    bob = Person()
    accept = bob.open(post.link("org-invitation"))
    bob.send(accept, name="Bob", password=PASSWORD)
    assert bob.name == "bob"
    page = signed_in.open(page.url)
    role = next(link for link in page.links if "organizations/role?" in link)
    page = signed_in.send(signed_in.open(role), role="member")
    assert page.notice == "The role was changed."
    remove = next(link for link in page.links if "organizations/remove?" in link)
    page = signed_in.send(signed_in.open(remove))
    assert "bob@example.com" not in page.text
    page = signed_in.send(signed_in.open(page.link("Delete")))

    assert "You belong to no organization yet." in page.text


def test_invitation_that_was_not_mailed_is_not_said_to_be_sent(
    signed_in, api, ann, post, monkeypatch
):
    """The recipient has received too many invitations of others today."""
    prove()
    acme = api.post("org", token=ann["access_token"], name="Acme").data["id"]
    page = signed_in.open(f"/auth/account/organizations/invite?id={acme}")
    sent = signed_in.send(page, email="bob@example.com")
    assert (sent.notice, post.kinds().count("org-invitation")) == ("The invitation was sent.", 1)
    monkeypatch.setattr(sending, "count_invitation_mail", lambda *_: False)

    sent = signed_in.send(page, email="eve@example.com")

    assert sent.notice.startswith("The invitation is pending, but no e-mail was sent")
    assert post.kinds().count("org-invitation") == 1


def test_active_organization_is_in_the_claims(signed_in):
    page = submit(signed_in, "organizations/create", name="Acme")

    page = signed_in.send(signed_in.open(page.link("Switch")))

    assert "Acme Active" in page.text
    assert signed_in.client.get("/claims").json()["org_slug"] == "acme"
    assert signed_in.name == "ann"


def test_first_organization_leads_back_to_the_page_that_asked_for_one(signed_in):
    page = signed_in.open("/auth/account/organizations?next=/claims")

    page = signed_in.send(signed_in.open(page.link("Create one")), name="Acme")
    assert (page.heading, page.notice) == (
        "Work for this organization?",
        "The organization was created.",
    )

    assert signed_in.send(page).url == "/claims"
    assert signed_in.client.get("/claims").json()["org_slug"] == "acme"


def test_user_who_may_not_create_an_organization_is_not_offered_one(signed_in, configure):
    configure(ORGANIZATION={"WHO_MAY_CREATE": "super_admins"})

    page = signed_in.open("/auth/account/organizations")

    assert "You belong to no organization yet." in page.text
    assert "Create one" not in page.text
    assert signed_in.visit("/auth/account/organizations/create").status == 404


def test_activity_is_a_list_of_sentences(signed_in):
    page = signed_in.open("/auth/account/activity")

    assert "Signed in." in page.text
    assert "auth.login" not in page.text
    assert "just now" in page.text


def test_activity_has_pages(signed_in):
    form = signed_in.open("/auth/account/profile/name")
    for number in range(25):
        signed_in.post(form, name=f"Ann {number}")

    page = signed_in.open("/auth/account/activity")
    older = signed_in.open(f"/auth/account/activity{page.link('Older')}")

    assert older.link("Newer") == "?offset=0"
    assert signed_in.open("/auth/account/activity?offset=x").status == 200


@pytest.mark.parametrize("path", ["security", "organizations", "profile/name", "security/password"])
def test_visitor_is_led_to_the_login(path, person, ann):
    page = person.open(f"/auth/account/{path}")
    assert page.heading == "Sign in"

    assert person.send(page, identifier=ANN, password=PASSWORD).url == f"/auth/account/{path}"


def test_other_peoples_ids_are_refused(signed_in, api):
    bob = api.sign_up("bob@example.com")
    org = api.post("org", token=bob["access_token"], name="Bobs").data["id"]

    page = signed_in.visit(f"/auth/account/organizations?id={org}")
    assert (page.status, "Bobs" in page.text) == (403, False)
    for form in ("rename", "invite", "delete", "switch"):
        url = f"/auth/account/organizations/{form}?id={org}"
        page = signed_in.visit(url)
        if page.status == 200:
            page = signed_in.post(page, **({"email": "x@example.com"} if form == "invite" else {}))
        assert page.status == 403, form


@pytest.mark.parametrize("value", ["", "a/b", "../me", "\x00"])
def test_id_that_no_route_has_is_not_found(signed_in, value):
    """With a receiver of `called`, as the console of the example has one, and without."""
    query = urlencode({"id": value})
    forms = ("organizations/leave", "sessions/end", "security/unlink", "security/passkey-remove")
    routes = {f"page-account-{form.replace('/', '-')}": form for form in forms}
    paths = [form for name, form in routes.items() if name in names()]
    assert paths
    for listen in (False, True):
        if listen:
            calls.called.connect(_ignore)
        try:
            for path in paths:
                page = signed_in.visit(f"/auth/account/{path}?{query}")
                if page.status == 200:
                    page = signed_in.post(page)
                assert page.status in (400, 403, 404), path
        finally:
            calls.called.disconnect(_ignore)


def names():
    """The names of the routes of this project."""
    return set(get_resolver().namespace_dict["authservice"][1].reverse_dict)


def _ignore(**_):
    """A receiver of `called`."""


def test_form_that_is_not_offered_is_not_found(signed_in, configure):
    assert signed_in.visit("/auth/account/profile/delete").status == 404
    assert signed_in.visit("/auth/account/profile/details").status == 404
    configure(CORE={"ALLOW_SELF_DELETE": True})
    assert signed_in.visit("/auth/account/profile/delete").status == 200


def test_sessions_name_no_header_of_the_client():
    assert device("Mallory <script>") == "Unknown browser"


def test_name_of_the_account_is_the_full_name_of_the_host(signed_in):
    lookup.get_person(user()).user.__class__.objects.update(first_name="Ann", last_name="Plum")

    assert "Ann Plum" in signed_in.open("/auth/account/profile").text


def test_form_of_a_session_that_ends_meanwhile_leads_to_the_login(signed_in, monkeypatch):
    page = signed_in.open("/auth/account/profile/name")
    real = calls.call

    def late(request, route, *args, **options):
        Session.objects.update(ended_at=timezone.now(), end_reason="revoked")
        return real(request, route, *args, **options)

    monkeypatch.setattr(calls, "call", late)

    sent = signed_in.post(page, name="Ann Lee")

    assert sent.location.startswith("/auth/login?next=")
    assert lookup.get_person(user()).account_row.name == ""


@pytest.mark.parametrize("path", ["profile/email", "profile/phone", "security/factor"])
def test_password_that_a_form_asks_for_cannot_be_left_out(signed_in, configure, path):
    """Whatever the project asks for: somebody may sit at the browser of somebody else."""
    configure(CORE={"REQUIRE_RECENT_PROOF": False})

    refused = submit(signed_in, path, email="lee@example.com", phone=PHONE, password="")

    assert (refused.status, refused.errors) == (400, {"password": "This field is required."})
