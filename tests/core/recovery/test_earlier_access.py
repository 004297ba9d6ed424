"""What an attacker set up at a sign-up is removed when the owner of the mailbox verifies the
address and then resets the password."""

from urllib.parse import urlencode

import pytest

from authservice.core.messages import kinds
from authservice.core.models import PhoneSource
from authservice.twofactor.models import Authenticator
from tests.core.recovery.thief import THIEFS_PHONE, Thief, log_in, owner_resets
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, account
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def attacker(api, flows, post):
    """Signed up with the victim's address and a number of the attacker, and verified the number."""
    token = api.sign_up(phone_number=THIEFS_PHONE)["access_token"]
    assert flows.verify_phone(flows.phone_code(THIEFS_PHONE), THIEFS_PHONE).status == 200
    return Thief(flows, token)


@pytest.fixture
def confirm(api, flows):
    """The victim clicks "Confirm" on the page behind the link of the verification e-mail."""

    def confirm(**headers):
        body = urlencode({"token": flows.email_token(), "email": ANN, "decision": "confirm"})
        options = {"content_type": FORM, "headers": {**HTML, **headers}}
        assert api.request("POST", "verify-email", body, **options).data["status"] == "success"
        assert account().proven_email_key == account().email_key

    return confirm


@pytest.fixture
def secure(api, post):
    """The victim uses the link of the security notice."""

    def secure():
        body = {"token": post.token(kinds.EMAIL_CONFIRMED)}
        assert api.request("POST", "account/secure", body).status == 200

    return secure


def cookie_of(api):
    answer = api.post("signup", email=ANN, password=PASSWORD, phone_number=PHONE)
    return f"authservice_signup={answer.response.cookies['authservice_signup'].value}"


def test_number_of_the_sign_up_is_removed_by_the_reset_of_the_owner(flows, attacker, confirm):
    confirm()

    owner_resets(flows)

    assert log_in(flows).data["user"]["phone_number"] == ""
    assert not attacker.reset_by_number()
    assert log_in(flows).status == 200


def test_number_of_the_sign_up_resets_no_password_for_72_hours_after_the_first_proof(
    attacker, confirm, clock
):
    confirm()
    clock.forward(hours=71)

    assert not attacker.reset_by_number()


def test_number_verified_long_before_the_first_proof_waits_72_hours_from_it(
    attacker, confirm, clock
):
    clock.forward(hours=100)

    confirm()

    assert not attacker.reset_by_number()


def test_number_of_the_sign_up_verified_after_the_first_proof_waits_72_hours(api, flows, clock):
    attacker = Thief(flows, api.sign_up(phone_number=THIEFS_PHONE)["access_token"])
    flows.click(flows.email_token(), Accept="application/json")
    clock.forward(hours=10)
    flows.verify_phone(flows.phone_code(THIEFS_PHONE), THIEFS_PHONE)
    clock.forward(hours=71)

    assert not attacker.reset_by_number()


@pytest.mark.parametrize("source", [PhoneSource.PASSWORD, PhoneSource.CONFIRMED])
def test_number_set_with_the_password_before_the_first_proof_waits_too(api, flows, confirm, source):
    attacker = Thief(flows, api.sign_up()["access_token"])
    attacker.plant_number(password=PASSWORD)
    type(account()).objects.update(phone_set_by=source)

    confirm()

    assert not attacker.reset_by_number()


def test_number_set_by_staff_keeps_its_source(api, flows, confirm, post):
    api.sign_up(phone_number=PHONE)
    type(account()).objects.update(phone_set_by=PhoneSource.STAFF)

    confirm()

    assert account().phone_set_by == PhoneSource.STAFF
    assert kinds.EMAIL_CONFIRMED not in post.kinds()


def test_number_keeps_its_privilege_if_the_browser_of_the_sign_up_opens_the_link(api, flows, post):
    cookie = cookie_of(api)
    flows.click(post.token(kinds.VERIFY_EMAIL), **HTML, Cookie=cookie)

    assert account().phone_set_by == PhoneSource.SIGNUP
    assert kinds.EMAIL_CONFIRMED not in post.kinds()


def test_number_keeps_its_privilege_if_the_browser_of_the_sign_up_confirms(api, confirm, post):
    confirm(Cookie=cookie_of(api))

    assert account().phone_set_by == PhoneSource.SIGNUP
    assert kinds.EMAIL_CONFIRMED not in post.kinds()


def test_number_keeps_its_privilege_with_a_valid_session_of_the_account(ann, confirm, post):
    confirm(Authorization=f"Bearer {ann['access_token']}")

    assert account().phone_set_by == PhoneSource.SIGNUP
    assert kinds.EMAIL_CONFIRMED not in post.kinds()


def test_number_loses_its_privilege_with_a_session_of_another_account(api, attacker, confirm):
    eve = api.sign_up("eve@example.com")["access_token"]

    confirm(Authorization=f"Bearer {eve}")

    assert account().phone_set_by == PhoneSource.SESSION


def test_notice_goes_to_the_proven_address_and_its_link_removes_the_number(
    attacker, confirm, secure, flows, post
):
    confirm()
    assert post.outgoing(kinds.EMAIL_CONFIRMED).to == ANN

    secure()

    assert account().phone_number == ""
    assert flows.api.get("me", token=attacker.token).error == (401, "INVALID_TOKEN")
    assert flows.api.post("login", email=ANN, password=PASSWORD).status == 401
    assert not attacker.reset_by_number()
    assert flows.reset(post.token(kinds.ACCOUNT_SECURED)).status == 200
    assert log_in(flows).data["user"]["email_verified"] is True


def test_link_of_the_notice_removes_the_factor_that_would_lock_the_owner_out(
    api, flows, confirm, secure, post, clock
):
    token = api.sign_up()["access_token"]
    Person(api, token=token, user_id=str(the_user().pk)).enrol()
    clock.forward(minutes=1)
    confirm()
    owner_resets(flows)
    assert log_in(flows).data["challenges"]

    secure()
    assert flows.reset(post.token(kinds.ACCOUNT_SECURED)).status == 200

    assert not Authenticator.objects.exists()
    assert log_in(flows).data["access_token"]


def test_notice_is_not_sent_without_a_number_or_a_factor(api, confirm, post):
    api.sign_up()

    confirm()

    assert kinds.EMAIL_CONFIRMED not in post.kinds()


def test_notice_is_sent_once(attacker, flows, post):
    token = flows.email_token()
    for _ in range(2):
        assert flows.click(token, Accept="application/json").status == 200

    assert post.kinds().count(kinds.EMAIL_CONFIRMED) == 1


def test_link_of_the_notice_works_after_the_attacker_changed_the_number(attacker, confirm, secure):
    confirm()
    attacker.put(phone="+4930123499", password=PASSWORD)

    secure()

    assert account().phone_number == ""


def test_reset_removes_the_privilege_if_unproven_access_is_not_wiped(
    attacker, flows, configure, post
):
    configure(CORE={"WIPE_UNPROVEN": False})
    owner_resets(flows)

    assert account().phone_set_by == PhoneSource.SESSION
    assert kinds.EMAIL_CONFIRMED in post.kinds()
    assert not attacker.reset_by_number()


def test_notice_is_not_sent_if_the_first_proof_removes_all_access(attacker, flows, post):
    owner_resets(flows)

    assert kinds.EMAIL_CONFIRMED not in post.kinds()


def test_link_of_the_notice_works_without_time_zones(attacker, confirm, secure, settings):
    settings.USE_TZ, settings.TIME_ZONE = False, "Asia/Kathmandu"
    confirm()

    secure()

    assert account().phone_number == ""
    assert not account().user.has_usable_password()


def test_link_of_the_notice_keeps_a_number_that_every_login_needs(
    api, attacker, confirm, secure, flows, post, configure
):
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    confirm()

    secure()

    assert account().phone_number == THIEFS_PHONE
    assert account().phone_set_by == PhoneSource.STAFF
    assert flows.reset(post.token(kinds.ACCOUNT_SECURED)).status == 200
    assert api.post("login", email=ANN, password=NEW).status == 200
    assert not attacker.reset_by_number()
