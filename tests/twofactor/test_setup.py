"""Setting up a second factor: logins need no code until a first code confirms the secret."""

import base64
import re
from xml.etree import ElementTree

import pytest
import qrcode

from authservice.twofactor.models import Authenticator, BackupCode
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.people import has
from tests.twofactor.people import ANN, app_of

pytestmark = pytest.mark.django_db
ENABLED = (400, "TWO_FACTOR_ALREADY_ENABLED")


def test_setup_has_the_documented_fields(ann):
    answer = ann.post("2fa/setup")

    assert answer.status == 200
    assert set(answer.data) == {"secret", "qr_url", "qr_code", "backup_codes", "message"}
    assert answer.headers["Cache-Control"] == "no-store, private"


def test_uri_contains_secret_issuer_and_account(ann):
    made = ann.set_up()

    assert (ann.app.secret, ann.app.issuer, ann.app.name) == (made["secret"], "testserver", ANN)


def test_host_can_set_the_issuer(ann, configure):
    configure(TWOFACTOR={"ISSUER": "Plum & Tart"})

    ann.set_up()

    assert ann.app.issuer == "Plum & Tart"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://shop.example.com:8443", "shop.example.com"),
        ("http://localhost:3000", "authservice"),
        ("http://127.0.0.1:3000", "authservice"),
        ("http://[::1]:3000", "authservice"),
    ],
)
def test_default_issuer_is_the_host_of_the_front_end_unless_it_is_local(ann, configure, url, name):
    configure(FRONTEND={"URL": url})

    ann.set_up()

    assert ann.app.issuer == name


@pytest.mark.skipif(not has("username"), reason="users of this host have no username")
def test_user_without_an_address_is_named_by_username(api, ann):
    token = api.post("signup", username="bob", password="plum tart 42 windows").data["access_token"]

    made = api.post("2fa/setup", token=token).data

    assert app_of(made["qr_url"]).name == "bob"


def test_setup_returns_ten_backup_codes_of_sixty_bits(ann):
    codes = ann.set_up()["backup_codes"]

    assert len(set(codes)) == 10
    assert all(re.fullmatch(r"[A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}", code) for code in codes)


def test_qr_code_is_an_svg_of_the_modules_of_its_text(ann):
    made = ann.set_up()

    kind, _, picture = made["qr_code"].partition(",")
    drawn = ElementTree.fromstring(base64.b64decode(picture))
    (path,) = drawn
    dark = set()
    for x, y, length in re.findall(r"M(\d+) (\d+)h(\d+)", path.get("d")):
        dark |= {(int(x) + step, int(y)) for step in range(int(length))}
    code = qrcode.QRCode()
    code.add_data(made["qr_url"])
    rows = code.get_matrix()
    assert kind == "data:image/svg+xml;base64"
    assert (drawn.tag, path.tag.rpartition("}")[2]) == ("{http://www.w3.org/2000/svg}svg", "path")
    assert drawn.get("viewBox") == f"0 -.5 {len(rows)} {len(rows)}"
    assert dark == {
        (x, y) for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark
    }
    assert len(picture) < 8_000


def test_login_needs_no_code_before_the_factor_is_confirmed(api, ann):
    ann.set_up()

    assert "access_token" in api.log_in()
    assert ann.get("2fa/status").data["enabled"] is False


def test_second_setup_replaces_the_first(ann):
    ann.set_up()
    first = ann.code()
    ann.set_up()

    assert ann.post("2fa/verify", code=first).error == (400, "TWO_FACTOR_INVALID")
    assert ann.post("2fa/verify", code=ann.code()).status == 200


def test_second_setup_replaces_the_backup_codes_too(ann):
    ann.set_up()
    (first, *_) = ann.backup_codes
    ann.enrol()

    assert ann.verify_login(first).error == (401, "TWO_FACTOR_INVALID")
    assert BackupCode.objects.count() == 10


def test_setup_of_an_enabled_factor_is_refused(enrolled):
    before = Authenticator.objects.values().get()

    assert enrolled.post("2fa/setup").error == ENABLED
    assert Authenticator.objects.values().get() == before


def test_setup_needs_a_token(api, ann):
    assert api.post("2fa/setup").error == (401, "UNAUTHORIZED")


# A recent proof of the owner


@pytest.fixture
def user_of_old_session(ann, configure):
    configure(CORE={"REQUIRE_RECENT_PROOF": True})
    age_sessions(minutes=10, seconds=1)
    return ann


def test_setup_in_an_old_session_needs_the_password_if_a_proof_is_required(user_of_old_session):
    assert user_of_old_session.post("2fa/setup").error == (403, "REAUTHENTICATION_REQUIRED")
    assert not Authenticator.objects.exists()
    assert user_of_old_session.post("2fa/setup", password=PASSWORD).status == 200


def test_setup_in_a_recent_session_needs_no_password(ann, configure):
    configure(CORE={"REQUIRE_RECENT_PROOF": True})

    assert ann.post("2fa/setup").status == 200


def test_setup_in_an_old_session_needs_no_password_by_default(user_of_old_session, configure):
    configure(CORE={})

    assert user_of_old_session.post("2fa/setup").status == 200


def test_setup_with_a_wrong_password_is_refused_and_counts_as_an_attempt(ann):
    wrong = [ann.post("2fa/setup", password="wrong").error for _ in range(11)]

    assert wrong == [(401, "INVALID_CREDENTIALS")] * 10 + [(429, "TOO_MANY_ATTEMPTS")]
    assert not Authenticator.objects.exists()


# Status


def test_status_without_a_factor(ann):
    assert ann.get("2fa/status").data == {
        "enabled": False,
        "method": "",
        "backup_codes_remaining": 0,
    }


def test_status_with_an_unconfirmed_factor(ann):
    ann.set_up()

    assert ann.get("2fa/status").data["enabled"] is False
    assert ann.get("2fa/status").data["backup_codes_remaining"] == 0


def test_status_with_an_enabled_factor(enrolled):
    assert enrolled.get("2fa/status").data == {
        "enabled": True,
        "method": "totp",
        "backup_codes_remaining": 10,
    }
