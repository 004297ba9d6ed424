"""Passkeys on the pages, as the script submits the forms; a browser does it for real in
`tests/passkeys/test_browser.py`."""

import base64
import hashlib
import json
import re
from html import unescape

import pytest

from authservice.pages import passkey_forms
from authservice.passkeys.models import Passkey
from tests.pages.inside.person import PASSKEY
from tests.passkeys.authenticator import UP, Authenticator
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.flows import ANN, prove
from tests.support.people import the_user
from tests.twofactor import people

pytestmark = pytest.mark.django_db

BY_PASSKEY = "Use a passkey instead of a password"
SECURITY, ADD = "/auth/account/security", "/auth/account/security/passkey"


@pytest.fixture
def device():
    return Authenticator()


def options_of(page):
    found = re.search(r'data-passkey="\w+" data-options="([^"]+)"', page.html)
    assert found, (page.status, page.text)
    return json.loads(unescape(found[1]))


def is_offered(page):
    return "data-passkey" in page.html


def use(person, page, device, **change):
    """Press the button of the form, into which the script fills the answer."""
    options = options_of(page)
    sign = device.create if "rp" in options else device.get
    return person.send(page, PASSKEY, credential=json.dumps(sign(options, **change)))


def add(person, device, **typed):
    page = person.send(person.open(ADD), name="Phone", **typed)
    return use(person, page, device)


def open_form(person, name):
    """Follow the link of the only passkey to a form."""
    (link,) = [url for url in person.open(SECURITY).links if f"/{name}?" in url]
    return person.open(link)


@pytest.fixture
def owner(signed_in, device):
    """Ann's browser, signed in, with a passkey on her device."""
    page = add(signed_in, device)
    assert page.notice == "The passkey was added.", page.text
    return signed_in


@pytest.fixture
def app(owner, device):
    """The app of Ann, whose passkey is a second factor too."""
    owner.post(open_form(owner, "passkey-change"), second_factor="on")
    # An app beside the passkey needs two factors.
    page = owner.send(owner.open(f"{SECURITY}/factor"), password=PASSWORD)
    (confirm,) = [url for url in page.links if "acr_values=aal2" in url]
    use(owner, owner.open(confirm), device)
    page = owner.send(owner.open(f"{SECURITY}/factor"), password=PASSWORD)
    secret = re.search(r"<code>([A-Z2-7]{16,})</code>", page.html)[1]
    made = people.app_of(f"otpauth://totp/x?secret={secret}")
    owner.post(page, code=made.now())
    return made


def test_login_page_offers_passkeys_in_the_field_too(person):
    page = person.open("/auth/login")

    assert 'autocomplete="username webauthn"' in page.html
    assert options_of(page)["allowCredentials"] == []


def test_form_is_hidden_until_the_script_shows_it(person):
    form = re.search(r"<form [^>]*data-passkey[^>]*>", person.open("/auth/login").html)[0]

    assert form.endswith(" hidden>")


def test_policy_allows_the_script_by_its_digest_alone(person):
    page = person.open("/auth/login")

    (script,) = re.findall(r"<script>(.*?)</script>", page.html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = page.response.headers["Content-Security-Policy"]
    assert f"script-src 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert len(script) <= 6000


def test_page_without_a_passkey_form_has_no_script_of_passkeys(person):
    page = person.open("/auth/forgot-password")

    (script,) = re.findall(r"<script>(.*?)</script>", page.html, re.DOTALL)
    assert "PublicKeyCredential" not in script


def test_login_with_a_passkey_leads_where_the_visitor_wanted_to_go(owner, device):
    owner.client.logout()
    page = owner.open("/orders")
    assert not owner.name

    assert use(owner, page, device).html == "orders of ann"
    assert owner.name


def test_login_with_a_passkey_lasts_if_the_box_is_checked(owner, device):
    owner.client.logout()
    page = owner.open("/auth/login")
    answer = json.dumps(device.get(options_of(page)))

    owner.send(page, PASSKEY, credential=answer, remember="on")

    assert owner.client.cookies["sessionid"]["max-age"]


def test_login_with_a_removed_passkey_tells_the_browser(owner, device):
    owner.client.logout()
    Passkey.objects.all().delete()

    page = use(owner, owner.open("/auth/login"), device)

    known = json.loads(unescape(re.search(r'data-unknown="([^"]+)"', page.html)[1]))
    assert page.alert == "No account has this passkey."
    assert known == {
        "rpId": "testserver",
        "credentialId": device.get(options_of(page))["id"],
    }


def test_answer_of_another_page_is_refused(owner, device):
    owner.client.logout()
    old, new = owner.open("/auth/login"), owner.open("/auth/login")

    page = owner.send(new, PASSKEY, credential=json.dumps(device.get(options_of(old))))

    assert page.status == 400
    assert page.alert == "The passkey was not accepted."
    assert is_offered(page)
    assert not owner.name
    assert use(owner, page, device).url.startswith("/auth/account")


@pytest.mark.parametrize("text", ["", "x", "[]", "{}", '"' * 9, "[" * 9000, '{"id": 1}'])
def test_form_without_an_answer_of_a_browser_signs_nobody_in(person, ann, text):
    page = person.send(person.open("/auth/login"), PASSKEY, credential=text)

    assert page.status == 400
    assert not person.name


def test_form_without_its_csrf_token_signs_nobody_in(owner, device):
    owner.client.logout()
    page = owner.open("/auth/login")
    credential = json.dumps(device.get(options_of(page)))

    sent = owner.post(page, PASSKEY, credential=credential, csrfmiddlewaretoken=None)

    assert "This form was open for too long" in sent.alert
    assert not owner.name


def test_visit_of_the_address_of_the_form_leads_to_the_login(person):
    assert person.open("/auth/passkeys/login").heading == "Sign in"


def test_list_names_the_passkey_and_informs_the_browser(owner, device):
    page = owner.open(SECURITY)

    assert "Phone Added just now · Never used" in page.text
    accepted, details = json.loads(unescape(re.search(r'data-signals="([^"]+)"', page.html)[1]))
    assert accepted["rpId"] == details["rpId"] == "testserver"
    assert len(accepted["allAcceptedCredentialIds"]) == 1
    assert details["name"] == ANN


def test_list_of_a_user_without_passkeys_informs_nobody(signed_in):
    page = signed_in.open(SECURITY)

    assert "You have none yet." in page.text
    assert "<div data-signals" not in page.html


def test_adding_needs_a_recent_proof(signed_in, device):
    age_sessions()
    page = signed_in.send(signed_in.open(ADD), name="Phone")
    assert page.alert == "Confirm that it is you to do this."
    assert not is_offered(page)

    page = signed_in.open(page.link("Confirm that it is you"))
    page = signed_in.send(page, password=PASSWORD)

    page = use(signed_in, signed_in.send(page, name="Phone"), device)
    assert page.notice == "The passkey was added."


def test_adding_of_the_same_key_is_refused(owner, device):
    page = owner.send(owner.open(ADD), name="Again")
    credential = device.create(options_of(page), credential=device.credentials[0])

    page = owner.send(page, PASSKEY, credential=json.dumps(credential))

    assert page.alert == "This passkey is already in use."
    assert Passkey.objects.count() == 1


def test_renaming_needs_no_recent_proof(owner):
    age_sessions()
    form = open_form(owner, "passkey-change")

    page = owner.send(form, name="Blue phone")

    assert page.notice == "The passkey was changed."
    assert Passkey.objects.get().name == "Blue phone"


def test_use_as_second_factor_needs_a_recent_proof(owner):
    age_sessions()
    form = open_form(owner, "passkey-change")

    page = owner.send(form, second_factor="on")

    assert page.alert == "Confirm that it is you to do this."
    assert not Passkey.objects.get().second_factor


def test_removing_needs_a_recent_proof(owner):
    age_sessions()
    form = open_form(owner, "passkey-remove")
    page = owner.send(form)
    assert Passkey.objects.exists()

    page = owner.open(page.link("Confirm that it is you"))
    page = owner.send(page, password=PASSWORD)
    page = owner.send(page)

    assert page.notice == "The passkey was removed."
    assert not Passkey.objects.exists()


def test_last_way_in_stays(owner, device):
    user = the_user(ANN)
    user.set_unusable_password()
    user.save()
    owner.client.logout()
    use(owner, owner.open("/auth/login"), device)

    page = owner.send(open_form(owner, "passkey-remove"))

    assert page.alert == "The last way to log in cannot be removed."


def test_passkey_of_another_user_is_not_found(owner):
    page = owner.open(f"{SECURITY}/passkey-change?id=00000000-0000-0000-0000-000000000000")

    assert page.status == 404


def test_passkey_is_the_second_factor_of_a_login(owner, app, device):
    owner.client.logout()
    page = owner.sign_in(ANN, PASSWORD)
    assert page.heading == "Enter your code"
    assert 'name="code"' in page.html

    page = use(owner, page, device)

    assert page.url.startswith("/auth/account")


def test_security_key_is_the_only_second_factor_of_a_login(signed_in):
    key = Authenticator(flags=UP)
    page = add(signed_in, key, second_factor="on")
    assert "Two-factor" in page.text
    assert "Only after the password" in page.text
    signed_in.client.logout()

    page = signed_in.sign_in(ANN, PASSWORD)
    assert page.heading == "Confirm that it is you"
    assert 'id="code"' not in page.html
    assert "Use your passkey or security key." in page.text
    refused = signed_in.send(
        page, PASSKEY, credential=json.dumps(key.get(options_of(page), rp_id="evil"))
    )
    assert refused.alert == "The passkey was not accepted."
    assert use(signed_in, refused, key).url.startswith("/auth/account")


def test_second_factor_after_a_mailed_link(owner, app, device, post):
    prove()  # the first proof of an address removes all factors
    owner.client.logout()
    owner.send(owner.open("/auth/magic-link/send"), email=ANN)

    page = owner.open(post.link("magic-link"))

    assert use(owner, page, device).url.startswith("/auth/account")


def test_step_up_with_a_passkey(owner, device):
    age_sessions()
    page = owner.open("/transfer")
    assert page.heading == "Confirm that it is you"

    assert use(owner, page, device).html == "transfer of ann"


def test_step_up_that_only_a_passkey_reaches(owner, device):
    page = owner.open("/auth/confirm?acr_values=phr&next=/orders")
    assert 'name="password"' not in page.html
    assert "Use your passkey or security key to continue." in page.text

    refused = owner.send(
        page, PASSKEY, credential=json.dumps(device.get(options_of(page), flags=UP))
    )
    assert refused.status == 400
    assert use(owner, refused, device).html == "orders of ann"


@pytest.mark.parametrize("able", [True, False])
def test_sign_up_offers_a_passkey_where_the_device_has_one(person, post, able):
    page = person.open("/auth/signup?next=/orders")
    said = {"passkeys": "on"} if able else {}

    page = person.send(page, email=ANN, password=PASSWORD, **said)

    if not able:
        assert page.html == "orders of ann"
        return
    assert page.heading == "Add a passkey"
    assert page.link("Cancel") == "/orders"
    device = Authenticator()
    page = use(person, person.send(page, name="Phone"), device)
    assert page.html == "orders of ann"


def test_account_without_a_password_begins_with_a_mail_and_a_passkey(
    person, post, configure, device
):
    configure(MAGICLINK={"AUTO_REGISTER": True})
    page = person.open(person.open("/auth/signup?next=/orders").link(BY_PASSKEY))
    assert page.heading == BY_PASSKEY
    person.send(page, email=ANN)

    page = person.open(post.link("magic-link"))
    assert page.heading == "Add a passkey"
    page = use(person, person.send(page, name="Phone"), device)

    assert page.html == "orders of ann"
    assert not the_user(ANN).has_usable_password()
    person.client.logout()
    assert use(person, person.open("/auth/login?next=/orders"), device).html == "orders of ann"


@pytest.mark.parametrize(
    "sections", [{"MAGICLINK": {"AUTO_REGISTER": False}}, {"CORE": {"ALLOW_SIGNUP": False}}]
)
def test_sign_up_by_a_passkey_is_offered_where_a_mail_creates_accounts(person, configure, sections):
    configure(**{"MAGICLINK": {"AUTO_REGISTER": True}, **sections})

    assert BY_PASSKEY not in person.open("/auth/signup").text
    page = person.open(f"/auth/magic-link/send?next={ADD}")
    assert page.heading == "Sign in by e-mail"


def test_options_of_a_form_are_limited():
    assert passkey_forms._object('{"a": "' + "x" * 40_000 + '"}') == {}
