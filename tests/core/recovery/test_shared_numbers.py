"""A number is taken once an account has verified it; until then several accounts may have it."""

import pytest
from django.db.models import F

from authservice.core.credentials import passwords
from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.core.recovery import phone_numbers
from authservice.kernel.client import Client
from tests.admin_api.people import Admin
from tests.contract.shapes import is_refusal
from tests.core.recovery.thief import Thief
from tests.support.client import PASSWORD
from tests.support.flows import ANN, OTHER_PHONE, PHONE, account, prove, wrong
from tests.support.people import the_user
from tests.support.slots import listening

pytestmark = pytest.mark.django_db

BOB = "bob@example.com"
INVALID = (400, "INVALID_VERIFICATION_CODE")
IN_USE = (400, "PHONE_ALREADY_IN_USE")


@pytest.fixture
def bob(api, ann):
    """Bob signs up with the number that Ann has entered and not verified."""
    return api.sign_up(BOB, phone_number=PHONE)["access_token"]


@pytest.fixture
def anns(ann):
    return ann["access_token"]


def put(api, token, **body):
    return api.request("PUT", "profile", body, token=token)


def verify(flows, token=""):
    return flows.verify_phone(flows.phone_code(token=token), token=token)


def test_unverified_number_is_available(api, ann):
    assert api.post("is-available", phone=PHONE).data["available"] is True
    assert api.post("signup", email=BOB, password="plum tart 42", phone_number=PHONE).status == 201


def test_unverified_number_may_be_set_by_another_account(api, bob):
    carol = api.sign_up("carol@example.com")["access_token"]

    assert put(api, carol, phone=PHONE).status == 200
    assert Account.objects.filter(phone_number=PHONE).count() == 3


def test_verified_number_is_taken(api, flows, bob):
    verify(flows, bob)

    assert api.post("is-available", phone=PHONE).data["available"] is False
    signup = {"email": "carol@example.com", "password": "plum tart 42", "phone_number": PHONE}
    assert is_refusal(api.post("signup", **signup), *IN_USE)
    carol = api.sign_up("carol@example.com")["access_token"]
    assert is_refusal(put(api, carol, phone=PHONE), *IN_USE)


def test_first_account_that_verifies_the_number_keeps_it(flows, bob, anns):
    prove()  # Ann's address, so that she is notified
    flows.post.jobs.clear()

    assert verify(flows, bob).status == 200

    assert account(BOB).verified_phone_key == account(BOB).phone_key
    assert (account().phone_number, account().phone_key) == ("", None)
    notice = flows.post.outgoing(kinds.PHONE_LOST)
    assert notice.to == ANN
    assert "ip_address" not in notice.context


def test_account_that_loses_the_number_learns_nothing_about_its_new_owner(api, flows, bob):
    prove()
    code = flows.phone_code(token=bob)
    flows.post.jobs.clear()
    recorded = []

    with listening(recorded.append):
        api.post(
            "verify-phone",
            phone=PHONE,
            code=code,
            headers={
                "Authorization": f"Bearer {bob}",
                "Accept-Language": "de",
                "User-Agent": "Bobs browser",
                "X-Request-ID": "bobs-request",
            },
        )

    [entry] = [event for event in recorded if event.action == "user.phone.changed"]
    assert entry.user == the_user(ANN)
    assert entry.client == Client()
    [job] = [job for job in flows.post.jobs if job.kind == kinds.PHONE_LOST]
    assert (job.language, job.details, job.request_id) == ("", {}, "bobs-request")


@pytest.mark.parametrize("verified", [False, True])
def test_unproven_address_of_an_account_that_loses_the_number_gets_no_mail(flows, bob, verified):
    """Staff, or a program that opens every link, may have verified the address of somebody else."""
    if verified:
        Account.objects.filter(pk=account().pk).update(verified_email_key=F("email_key"))
    flows.post.jobs.clear()

    verify(flows, bob)

    assert kinds.PHONE_LOST not in flows.post.kinds()


def test_code_of_one_account_does_not_verify_the_number_for_another(flows, bob, anns):
    code = flows.phone_code(token=anns)

    assert is_refusal(flows.verify_phone(code, token=bob), *INVALID)
    assert not Account.objects.exclude(verified_phone_key=None).exists()
    assert flows.verify_phone(code, token=anns).status == 200


def test_number_that_moved_is_not_verified_by_the_code_of_its_former_account(api, flows, anns):
    """The owner of the number reads out a code that was requested by an account of hers."""
    code = flows.phone_code(token=anns)
    bob = api.sign_up(BOB)["access_token"]
    put(api, bob, phone=PHONE)
    put(api, anns, phone=OTHER_PHONE)

    assert is_refusal(flows.verify_phone(code), *INVALID)
    assert account(BOB).verified_phone_key is None


def test_code_without_a_token_is_that_of_the_only_account(flows, ann):
    assert verify(flows).status == 200


def test_code_without_a_token_is_refused_if_several_accounts_have_the_number(flows, bob, anns):
    code = flows.phone_code(token=anns)

    assert is_refusal(flows.verify_phone(code), *INVALID)
    assert flows.verify_phone(code, token=anns).status == 200


def test_number_of_several_accounts_gets_no_code_without_a_token(api, flows, bob):
    assert api.post("send-verification-phone", phone=PHONE).status == 200
    assert flows.post.outgoing(kinds.VERIFY_PHONE) is None


def test_account_gets_no_code_for_a_number_that_it_does_not_have(api, flows, anns):
    api.request("POST", "send-verification-phone", {"phone": OTHER_PHONE}, token=anns)

    assert flows.post.outgoing(kinds.VERIFY_PHONE) is None


def test_ended_session_counts_as_no_token(api, flows, ann):
    token = ann["access_token"]
    api.request("POST", "logout", token=token)

    assert verify(flows, token).status == 200


def test_wrong_codes_of_one_account_use_up_no_attempts_of_another(flows, bob, anns):
    code = flows.phone_code(token=anns)
    flows.phone_code(token=bob)
    for _ in range(6):
        flows.verify_phone(wrong(code), token=bob)

    assert flows.verify_phone(code, token=anns).status == 200


def test_code_of_another_account_ends_none_of_an_account(flows, bob, anns):
    code = flows.phone_code(token=anns)
    flows.phone_code(token=bob)

    assert flows.verify_phone(code, token=anns).status == 200


def test_taken_number_gets_no_code_for_an_account_that_still_claims_it(flows, bob, anns):
    key = account().phone_key
    Account.objects.filter(pk=account(BOB).pk).update(verified_phone_key=key)

    flows.api.request("POST", "send-verification-phone", {"phone": PHONE}, token=anns)

    assert flows.post.outgoing(kinds.VERIFY_PHONE) is None


def test_forgotten_password_serves_the_account_that_verified_the_number(flows, bob, anns):
    key = account().phone_key
    Account.objects.filter(pk=account(BOB).pk).update(verified_phone_key=key)

    flows.api.post("forgot-password", phone=PHONE)

    assert flows.post.outgoing(kinds.RESET_BY_CODE).person.email == BOB


def test_forgotten_password_serves_nobody_if_nobody_verified_the_number(flows, bob):
    flows.api.post("forgot-password", phone=PHONE)

    assert flows.post.outgoing(kinds.RESET_BY_CODE) is None


def test_required_verification_lets_the_verifier_log_in(api, flows, bob, configure):
    verify(flows, bob)
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert api.log_in(BOB)["access_token"]
    assert (
        api.post("login", email=ANN, password="plum tart 42 windows").code == "PHONE_NOT_VERIFIED"
    )


def test_known_device_of_an_account_with_a_shared_number_has_its_own_limit(api, flows, bob):
    """A number of two accounts names neither, but the access token does."""
    device = api.post("login", email=BOB, password=PASSWORD).headers["X-Device-Token"]
    path, body = "send-verification-phone", {"phone": PHONE}
    for number in range(40):
        api.request("POST", path, body, token=bob, REMOTE_ADDR=f"192.0.2.{number}")
    flows.post.jobs.clear()

    api.request("POST", path, body, token=bob, REMOTE_ADDR="192.0.2.99")
    assert flows.post.jobs == []
    api.request("POST", path, body, token=bob, headers={"X-Device-Token": device})
    assert flows.post.kinds() == [kinds.VERIFY_PHONE]


# The ways in which an account gets a verified number that others have, and lose.


def by_code(api, flows, ann):
    return verify(flows, ann)


def by_staff(api, flows, ann):
    root = Admin(api, "root@example.com")
    return root.put(str(account().pk), phone_number_verified=True)


def by_staff_with_another_spelling(api, flows, ann):
    root = Admin(api, "root@example.com")
    return root.put(str(account().pk), phone_number=PHONE, phone_number_verified=True)


def by_the_link_of_a_notice(api, flows, ann):
    prove(phone=PHONE)
    Account.objects.exclude(pk=account().pk).update(phone_number="", phone_key=None)
    Thief(flows, ann).plant_number(password=PASSWORD)
    api.sign_up("carol@example.com", phone_number=PHONE)
    token = flows.post.token(kinds.PHONE_CHANGED)
    return api.request("POST", "account/secure", {"token": token})


WAYS = [by_code, by_staff, by_staff_with_another_spelling, by_the_link_of_a_notice]
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@pytest.fixture
def locks(monkeypatch):
    """The keys of the users that each transaction has locked first."""
    calls, lock = [], passwords.lock_users

    def lock_and_note(pks):
        calls.append(set(pks))
        return lock(pks)

    monkeypatch.setattr(passwords, "lock_users", lock_and_note)
    return calls


@each_way
def test_account_that_loses_its_number_is_locked_with_the_one_that_gets_it(
    api, flows, bob, anns, locks, way
):
    assert way(api, flows, anns).status == 200

    lost = set(Account.objects.filter(phone_key=None, phone_number="").values_list("pk", flat=True))
    losers = lost - {root.pk for root in Account.objects.filter(is_super_admin=True)}
    [loser] = losers - ({account(BOB).pk} if way is by_the_link_of_a_notice else set())
    assert any({loser, account().pk} <= together for together in locks)


@each_way
def test_verification_takes_the_number_of_a_bounded_number_of_accounts(
    api, flows, bob, anns, monkeypatch, way
):
    """A request must not take longer for each account that an attacker has created."""
    monkeypatch.setattr(phone_numbers, "_AT_ONCE", 2)

    def fill():
        for number in range(5):
            api.sign_up(f"other{number}@example.com", phone_number=PHONE)

    if way is by_the_link_of_a_notice:
        plant = Thief.plant_number

        def plant_and_fill(thief, **proof):
            plant(thief, **proof)
            fill()

        monkeypatch.setattr(Thief, "plant_number", plant_and_fill)
    else:
        fill()
    had = Account.objects.filter(phone_number=PHONE).count()

    assert way(api, flows, anns).status == 200

    assert account().phone_key == account().verified_phone_key
    left = Account.objects.filter(phone_number=PHONE).exclude(pk=account().pk)
    # With the link, the others sign up after Ann has lost the number: five and Carol.
    assert left.count() == (4 if way is by_the_link_of_a_notice else had - 1 - 2)
    for other in left:
        assert other.verified_phone_key is None
    token = api.log_in(left[0].email)["access_token"]
    flows.post.jobs.clear()
    api.request("POST", "send-verification-phone", {"phone": PHONE}, token=token)
    assert flows.post.outgoing(kinds.VERIFY_PHONE) is None
