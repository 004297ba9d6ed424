"""The box of two-factor authentication on the Security page says what a login asks for."""

import json
import re
from html import unescape
from uuid import uuid4

import pytest

from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.modules import plugged
from authservice.pages import calls
from authservice.passkeys.models import Passkey
from authservice.twofactor.models import BackupCode
from tests.pages.inside.test_passkeys import SECURITY, add, use
from tests.passkeys.authenticator import Authenticator
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.twofactor import people

pytestmark = pytest.mark.django_db

NO_APP = "Authenticator app Not set up With backup codes, in case you lose your phone. Set it up"
APP = "Authenticator app Set up Remove"
CODES = "Backup codes 10 left Make new codes"
EVERYBODY = {"REQUIRED": "everybody"}


def words(html):
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def box(page):
    """The heading of the box, and its rows as texts."""
    (html,) = [
        part for part in page.html.split('<section class="box">') if "<h2>Two-factor" in part
    ]
    heading, *rows = html.partition("</section>")[0].split('<div class="item">')
    return words(heading).removeprefix("Two-factor authentication "), [words(row) for row in rows]


def add_passkey(person, **typed):
    return add(person, Authenticator(), **typed)


def set_up_app(person):
    page = person.send(person.open(f"{SECURITY}/factor"), password=PASSWORD)
    secret = re.search(r"<code>([A-Z2-7]{16,})</code>", page.html)[1]
    app = people.app_of(f"otpauth://totp/x?secret={secret}")
    person.post(page, code=app.now())
    return app


def test_user_without_a_factor_is_asked_for_none(signed_in):
    page = signed_in.open(SECURITY)

    assert box(page) == ("Off A second step after the password.", [NO_APP])
    assert 'class="button low " href="/auth/account/security/factor"' in page.html  # the main one


def test_app_is_a_method_with_backup_codes(signed_in):
    set_up_app(signed_in)

    assert box(signed_in.open(SECURITY)) == (
        "On A second step after the password.",
        [APP, CODES],
    )


def test_few_backup_codes_get_a_warning(signed_in):
    set_up_app(signed_in)
    kept = BackupCode.objects.values("pk")[:3]
    BackupCode.objects.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()

    _, rows = box(signed_in.open(SECURITY))

    assert rows == [APP, "Backup codes 3 left Few left Make new codes"]


def test_passkey_that_logins_ask_for_turns_it_on(signed_in):
    page = add_passkey(signed_in, second_factor="on")

    assert box(page) == ("On A second step after the password.", [NO_APP, "Passkeys 1 passkey"])
    assert 'class="button low secondary" href="/auth/account/security/factor"' in page.html
    signed_in.client.logout()
    assert signed_in.sign_in(ANN, PASSWORD).heading == "Confirm that it is you"


def test_login_that_asks_for_a_passkey_takes_each(signed_in):
    add_passkey(signed_in, second_factor="on")
    another(second_factor=False)

    assert box(signed_in.open(SECURITY))[1] == [NO_APP, "Passkeys 2 passkeys"]
    signed_in.client.logout()
    options = re.search(r'data-options="([^"]+)"', signed_in.sign_in(ANN, PASSWORD).html)[1]
    assert len(json.loads(unescape(options))["allowCredentials"]) == 2


def test_passkey_that_no_login_asks_for_leaves_it_off(signed_in):
    page = add_passkey(signed_in)

    unused = "Passkeys Not used Edit a passkey to use it here too."
    assert box(page) == ("Off A second step after the password.", [NO_APP, unused])
    signed_in.client.logout()
    assert signed_in.sign_in(ANN, PASSWORD).url.startswith("/auth/account")


def test_required_second_step_takes_every_passkey(signed_in, configure):
    add_passkey(signed_in)
    configure(TWOFACTOR=EVERYBODY)

    heading, rows = box(signed_in.open(SECURITY))

    assert heading == "On Your account needs a second step after the password."
    assert rows == [NO_APP, "Passkeys 1 passkey"]
    signed_in.client.logout()
    assert signed_in.sign_in(ANN, PASSWORD).heading == "Confirm that it is you"


def removal(page):
    """The address at which the passkey of the list can be removed."""
    return next(link for link in page.links if "passkey-remove?" in link)


@pytest.mark.parametrize(
    ("required", "choice", "text"),
    [
        ({}, {"second_factor": "on"}, "two-factor authentication will be off"),
        (EVERYBODY, {}, "you set up another one when you next sign in"),
        ({}, {}, ""),
    ],
)
def test_removal_of_the_only_second_step_says_so(signed_in, configure, required, choice, text):
    configure(TWOFACTOR=required)
    url = removal(add_passkey(signed_in, **choice))

    page = signed_in.open(url)

    assert ("It is your only second step" in page.text) == bool(text)
    assert text in page.text
    another()
    assert "It is your only second step" not in signed_in.open(url).text


def another(**changes):
    """A second passkey of the user, with other values than the first one."""
    copied = Passkey.objects.get()
    copied.pk, copied.credential_digest = uuid4(), "of another"
    for name, value in changes.items():
        setattr(copied, name, value)
    copied.save(force_insert=True)


def test_removal_of_a_passkey_without_second_factors_says_nothing_about_them(
    signed_in, monkeypatch
):
    url = removal(add_passkey(signed_in, second_factor="on"))
    exists = calls.exists
    monkeypatch.setattr(calls, "exists", lambda name: name != "2fa-status" and exists(name))

    assert "You will no longer be able to sign in with it." in signed_in.open(url).text
    assert "second step" not in signed_in.open(url).text


def test_required_second_step_that_is_missing_is_off(signed_in, configure):
    configure(TWOFACTOR=EVERYBODY)

    heading, rows = box(signed_in.open(SECURITY))

    assert heading == "Off Your account needs a second step after the password."
    assert rows == [NO_APP]


def test_app_beside_a_passkey_that_is_not_asked_for(signed_in, configure):
    """A login takes the code of the app then, whether a second step is required or not."""
    add_passkey(signed_in)
    app = set_up_app(signed_in)
    configure(TWOFACTOR=EVERYBODY)

    _, rows = box(signed_in.open(SECURITY))

    assert rows == [APP, "Passkeys Not used Edit a passkey to use it here too.", CODES]
    signed_in.client.logout()
    page = signed_in.sign_in(ANN, PASSWORD)
    assert "data-passkey" not in page.html
    assert signed_in.send(page, code=app.at(people.time.time() + 30)).heading == "Profile"


def test_removing_the_app_leaves_the_passkey(signed_in):
    device = Authenticator()
    add(signed_in, device, second_factor="on")
    # An app beside the passkey needs two factors.
    page = signed_in.send(signed_in.open(f"{SECURITY}/factor"), password=PASSWORD)
    (confirm,) = [url for url in page.links if "acr_values=aal2" in url]
    use(signed_in, signed_in.open(confirm), device)
    app = set_up_app(signed_in)
    assert box(signed_in.open(SECURITY))[1] == [APP, "Passkeys 1 passkey", CODES]

    url = removal(signed_in.open(SECURITY))
    assert "only second step" not in signed_in.open(url).text
    form = signed_in.open(f"{SECURITY}/factor-off")
    page = signed_in.send(form, code=app.at(people.time.time() + 30))

    assert page.notice == "The authenticator app was removed."
    assert box(page) == ("On A second step after the password.", [NO_APP, "Passkeys 1 passkey"])


class Texted(SecondFactor):
    """A second factor of the project."""

    method = "sms"

    def ask(self, arrival):
        return None

    def is_enabled(self, person):
        return True


@pytest.mark.parametrize(("label", "shown"), [("Text message", "Text message"), ("", "sms")])
def test_factor_of_the_project_is_listed_by_its_label(signed_in, monkeypatch, label, shown):
    monkeypatch.setattr(Texted, "label", label)
    with plugged("second_factor", Texted()):
        heading, rows = box(signed_in.open(SECURITY))

    assert heading.startswith("On ")
    assert rows == [NO_APP, f"{shown} Set up"]


def test_passkey_is_no_second_factor_where_no_login_asks_for_one(signed_in, monkeypatch):
    assert "Two-factor" in add_passkey(signed_in, second_factor="on").text
    exists = calls.exists
    monkeypatch.setattr(calls, "exists", lambda route: route != "2fa-status" and exists(route))

    assert "Two-factor" not in signed_in.open(SECURITY).text
