"""What clients and mailboxes held before an upgrade works after it, exactly as it did."""

import time
from datetime import timedelta

import pyotp
import pytest
from django.contrib.auth import get_user_model

from authservice.core.importing import package_tables
from authservice.core.login import password_recheck
from authservice.core.messages import security_notice
from authservice.core.models import UnseenPassword
from authservice.core.users import lookup
from authservice.core.users.identifiers import email_key
from authservice.notification import worker
from authservice.oauth.models import RestorableLink
from authservice.oauth.tokens import access_token
from tests.oauth.browsing import Browser, profile
from tests.oauth.in_process import office
from tests.support.client import PASSWORD, Api
from tests.support.flows import NEW
from tests.upgrade.story import PHONES, email

pytestmark = pytest.mark.django_db
NEW_PROFILE = {"name": "New", "password": PASSWORD}


def signed_in(answer, name):
    """Whether the response signs this user in."""
    return answer.status == 200 and answer.data["user"]["email"] == email(name)


def log_in(api, name, password=PASSWORD, **headers):
    return api.post("login", email=email(name), password=password, headers=headers)


def form(api, path, token, **more):
    """The JSON form of a link's page."""
    return api.request("POST", path, {"token": token, **more})


def test_password_works(api):
    assert signed_in(log_in(api, "bob"), "bob")


def test_check_of_a_password_is_still_valid():
    bob = lookup.find_by_email(email("bob"))

    assert password_recheck._earlier_results(bob) == {"password_breached"}


def test_password_that_validators_have_not_seen_is_seen_at_a_login(api, settings):
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "CORE": {"SIGNUP_ENUMERATION": "hide"}}
    assert UnseenPassword.objects.filter(user__email=email("bob")).exists()

    assert signed_in(log_in(api, "bob"), "bob")
    assert not UnseenPassword.objects.exists()


def test_access_token_works(api, held):
    me = api.get("me", token=held["session"]["access_token"])

    assert (me.status, me.data["email"]) == (200, email("bob"))


def test_refresh_token_works_once(api, held):
    old = held["session"]["refresh_token"]

    renewed = api.post("refresh", refresh_token=old)
    again = api.post("refresh", refresh_token=renewed.data["refresh_token"])

    assert (renewed.status, again.status) == (200, 200)
    assert api.get("me", token=again.data["access_token"]).data["email"] == email("bob")


def test_reused_refresh_token_ends_the_session(api, held, time_machine):
    old = held["session"]["refresh_token"]
    renewed = api.post("refresh", refresh_token=old).data
    api.post("refresh", refresh_token=renewed["refresh_token"])
    time_machine.shift(timedelta(minutes=1))  # longer than the leeway for lost responses

    assert api.post("refresh", refresh_token=old).status == 401
    assert api.get("me", token=renewed["access_token"]).status == 401


def test_logout_works(api, held):
    token = held["session"]["access_token"]

    assert api.post("logout", token=token).status == 200
    assert api.get("me", token=token).status == 401


def test_token_signed_with_a_key_of_the_settings_works(api, held, settings):
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "SIGNING_KEYS": settings.SIGNING_KEYS}
    pair = held["signed_with_key"]

    assert api.get("me", token=pair["access_token"]).data["email"] == email("pia")
    renewed = api.post("refresh", refresh_token=pair["refresh_token"]).data
    assert api.get("me", token=renewed["access_token"]).status == 200


def test_cookies_of_a_browser_work(held, settings):
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "COOKIES": {"ENABLED": True}}
    browser, cookies = held["browser"], {"Cookie": held["browser"]["cookies"]}
    unpaired = Api(paired=False)

    assert unpaired.get("me", headers=cookies).data["email"] == email("cleo")
    assert unpaired.post("refresh", headers=cookies).status == 403
    pair = {**cookies, "X-CSRF-Token": browser["csrf_token"]}
    assert unpaired.post("refresh", headers=pair).status == 200


def test_ended_session_stays_ended(api, held):
    assert api.get("me", token=held["ended"]["access_token"]).status == 401
    assert api.post("refresh", refresh_token=held["ended"]["refresh_token"]).status == 401


def test_device_stays_known(api, held):
    """A known device has attempts of its own, so it logs in while others are locked out."""
    while log_in(api, "pia", "wrong").status == 401:
        pass

    assert log_in(api, "pia").status == 429
    assert signed_in(log_in(api, "pia", **{"X-Device-Token": held["device"]}), "pia")


def test_locked_user_stays_locked(api):
    assert log_in(api, "leo").status == 429


def test_suspended_user_stays_suspended(api):
    assert log_in(api, "sue").status in (401, 403)


def test_verification_link_works_in_the_browser_that_signed_up(api, held):
    path = f"verify-email?token={held['verification']}&email={email('carl')}"

    assert api.get(path, headers={"Cookie": held["signup_cookie"]}).status == 200
    assert log_in(api, "carl").data["user"]["email_verified"] is True


def test_reset_link_works_once(api, held):
    body = {"token": held["reset"], "email": email("dan"), "new_password": NEW}

    assert api.request("POST", "reset-password", body).status == 200
    assert signed_in(log_in(api, "dan", NEW), "dan")
    assert api.request("POST", "reset-password", body).status == 400


def test_reset_code_works(api, held):
    body = {"code": held["reset_code"], "phone": PHONES["emil"], "new_password": NEW}

    assert api.request("POST", "reset-password", body).status == 200
    assert signed_in(log_in(api, "emil", NEW), "emil")


def test_code_of_a_phone_works(api, held):
    assert api.post("verify-phone", phone=PHONES["dora"], code=held["phone"]).status == 200
    assert log_in(api, "dora").data["user"]["phone_number_verified"] is True


def test_link_of_a_new_address_works(api, held):
    assert form(api, "change-email/confirm", held["change_email"]).status == 200
    assert signed_in(log_in(api, "hans2"), "hans2")


def test_former_address_stays_reserved(api, held, time_machine):
    address = held["reserved_address"]

    assert api.post("is-available", email=address).data["available"] is False
    time_machine.shift(timedelta(days=3))
    assert api.post("is-available", email=address).data["available"] is True


def test_link_that_undoes_a_change_works(api, held):
    assert form(api, "account/secure", held["secure"]).status == 200
    assert log_in(api, "jan", "fig biscuit 17 lanterns").status == 401


def test_security_notice_that_a_queue_lost_is_sent_again(time_machine):
    assert security_notice.send_again() == 0

    time_machine.shift(timedelta(minutes=30))
    assert (security_notice.send_again(), security_notice.send_again()) == (1, 0)


def test_link_to_a_first_password_works(api, held):
    body = {"token": held["first_password"], "email": email("nora"), "new_password": NEW}

    assert api.request("POST", "reset-password", body).status == 200
    assert signed_in(log_in(api, "nora", NEW), "nora")


@pytest.mark.parametrize(
    ("link", "cookie", "name"),
    [("magic_link", "magic_cookie", "gina"), ("first_use", "first_use_cookie", "noel")],
)
def test_magic_link_works(api, held, link, cookie, name):
    path, headers = f"magic-link/verify?token={held[link]}", {"Cookie": held[cookie]}

    assert signed_in(api.get(path, headers=headers), name)


def test_code_of_a_magic_link_works(api, held):
    answer = api.post("magic-link/verify-code", email=email("gerd"), code=held["magic_code"])

    assert signed_in(answer, "gerd")


def test_link_that_deletes_an_account_works(api, held):
    assert form(api, "account/delete", held["deletion"]).status == 200
    assert not get_user_model().objects.filter(email=email("mia")).exists()


def test_code_of_the_app_answers_an_open_challenge(api, held):
    code = pyotp.parse_uri(held["totp_uri"]).at(int(time.time()))

    answer = api.post("2fa/verify-login", temp_token=held["challenge"], code=code)

    assert signed_in(answer, "ann")


def test_each_backup_code_works_once(api, held):
    for code in held["backup_codes"]:
        [challenge] = log_in(api, "ann").data["challenges"]
        temp_token = challenge["data"]["temp_token"]
        assert api.post("2fa/verify-login", temp_token=temp_token, code=code).status == 200
        [again] = log_in(api, "ann").data["challenges"]
        used = {"temp_token": again["data"]["temp_token"], "code": code}
        assert api.post("2fa/verify-login", **used).status != 200


def test_remembered_device_needs_no_code(api, held):
    assert "challenges" in log_in(api, "ann").data

    device = {"X-Device-Token": held["remembered_device"]}
    assert signed_in(log_in(api, "ann", **device), "ann")


def test_open_challenge_to_set_up_a_second_factor_works(api, held):
    temp_token = held["setup_challenge"]
    made = api.post("2fa/setup-login", temp_token=temp_token).data
    code = pyotp.parse_uri(made["qr_url"]).at(int(time.time()))

    assert signed_in(api.post("2fa/verify-login", temp_token=temp_token, code=code), "rita")


def test_super_admin_sees_users_and_the_log(api, held):
    token = held["super_admin"]["access_token"]

    assert api.get("admin/users?limit=100", token=token).data["total"] >= 20
    entries = api.get("admin/audit?limit=100", token=token).data["list"]
    assert {"auth.login.failed", "auth.logout"} <= {entry["action"] for entry in entries}


def test_linked_provider_signs_in(api, held):
    who = profile(held["provider"]["subject"], "elsewhere@example.com")

    assert signed_in(Browser(api).sign_in(who), "max")


def test_removed_user_of_a_provider_is_not_linked_again(api, held):
    who = profile(held["removed_provider"]["subject"], email("rose"))

    assert Browser(api).sign_in(who).error == (409, "OAUTH_EMAIL_EXISTS")


def test_link_that_its_user_removed_can_be_restored(held):
    link = RestorableLink.objects.get(subject=held["removed_provider"]["subject"])

    assert (link.provider, link.email, link.at_signup) == ("acme", email("rose"), False)
    assert link.proven_key == email_key(email("rose"))
    assert (link.proven_at, link.recoveries) == (None, 0)
    assert timedelta() < link.removed_at - link.added_at < timedelta(seconds=1)


def test_login_that_was_at_the_provider_continues(api, held):
    browser, who = Browser(api), profile(held["provider"]["subject"], email("max"))
    browser.cookies.update(held["at_provider"]["cookies"])

    back = office.approve(held["at_provider"]["consent"], who)

    assert signed_in(browser.come_back(back), "max")


def test_nonce_of_a_native_app_works(api, held):
    token = office.id_token(profile(held["provider"]["subject"], email("max")), held["nonce"])

    assert signed_in(api.post("oauth/acme/token", id_token=token, nonce=held["nonce"]), "max")


def test_stored_token_of_a_provider_is_readable(held):
    assert access_token(get_user_model().objects.get(email=email("max")), "acme").reveal()


def test_invitation_is_accepted(api, held):
    answer = form(api, "invitations/accept", held["invitation"], **NEW_PROFILE)

    assert signed_in(answer, "kim")


def test_invitation_to_an_organization_is_accepted(api, held):
    organization = held["organization"]
    answer = form(api, "org/invitations/accept", organization["invitation"], **NEW_PROFILE)

    assert signed_in(answer, "lea")
    joined = api.get("org/my", token=answer.data["access_token"]).data
    assert organization["id"] in str(joined)


def test_active_organization_stays_active(api, held):
    organization = held["organization"]
    renewed = api.post("refresh", refresh_token=organization["refresh_token"]).data

    for token in (organization["access_token"], renewed["access_token"]):
        members = api.get(f"org/{organization['id']}/members", token=token)
        assert email("olaf") in str(members.data)


def test_csrf_token_works(held):
    pair = {"X-CSRF-Token": held["csrf"]["token"], "Cookie": held["csrf"]["cookie"]}
    unpaired = Api(paired=False)

    assert log_in(unpaired, "bob").status == 403
    assert signed_in(log_in(unpaired, "bob", **pair), "bob")


def test_queued_job_sends_its_mail(held, mailoutbox):
    worker.deliver(worker.from_dict(held["job"]))

    [sent] = mailoutbox
    assert sent.to == [email("bob")]
    assert "Passwort" in sent.subject


def test_user_of_the_project_without_an_account_logs_in(api):
    assert signed_in(log_in(api, "old", "an old password"), "old")


def test_imported_rows_are_not_imported_again(held):
    assert set(package_tables.seen("allauth", "link", held["imported"])) == set(held["imported"])


def test_new_users_get_new_ids(api):
    """The sequences of the database continue after the loaded rows."""
    before = set(get_user_model().objects.values_list("pk", flat=True))

    assert int(api.sign_up(email("zoe"))["user"]["id"]) not in before
