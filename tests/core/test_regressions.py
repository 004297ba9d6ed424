"""One example for each rule that was broken once."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend

from authservice.core.models import Account
from authservice.core.users import identifiers, lookup
from authservice.testing import mailbox
from tests.support.client import PASSWORD
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


def test_query_with_a_thousand_fields_is_a_validation_error(api):
    answer = api.get("verify-email?" + "&" * 1001)

    assert (answer.status, answer.code) == (400, "VALIDATION_ERROR")


def test_holder_keeps_an_address_after_another_user_claims_it():
    first = make_user(email="ann@example.com", username="ann1")
    second = make_user(email="bob@example.com", username="bob1")
    variant = "Ann@Example.com"
    get_user_model().objects.filter(pk=second.pk).update(email=variant)
    lookup.get_person(get_user_model().objects.get(pk=second.pk))

    first.save()

    assert lookup.find_by_email("ann@example.com").user == first


@pytest.mark.parametrize("text", ["\u017fam@example.com", "\u212a@example.com"])
def test_address_with_characters_that_fold_to_ascii_is_invalid(text):
    assert not identifiers.is_email(text)


def test_deliverable_address_has_the_domain_of_its_key():
    assert identifiers.deliverable("ann@fa\u00df.example") == "ann@xn--fa-hia.example"


def test_device_token_of_an_older_version_has_no_attempts_of_its_own(api):
    api.sign_up()
    device = api.post("login", email="ann@example.com", password=PASSWORD).headers["X-Device-Token"]
    Account.objects.update(device_version=1)
    for _ in range(10):
        api.post("login", email="ann@example.com", password="wrong")

    attempt = api.post(
        "login", email="ann@example.com", password="wrong", headers={"X-Device-Token": device}
    )

    assert attempt.status == 429


def test_number_removed_and_set_again_must_be_verified_again(api):
    token = api.sign_up(phone_number="+4930123456")["access_token"]
    Account.objects.update(verified_phone_key=identifiers.phone_key("+4930123456"))

    for phone in ("", "+4930123456"):
        answer = api.request("PUT", "profile", {"phone": phone}, token=token)

    assert answer.data["phone_number_verified"] is False


class Loose(ModelBackend):
    """Finds users under any name, as the collations of some databases do."""

    def authenticate(self, request, **credentials):
        user = get_user_model().objects.get()
        return user if user.check_password(credentials.get("password", "")) else None


def test_login_with_a_name_that_only_a_backend_matches_is_refused(api, settings):
    api.sign_up()
    settings.AUTHENTICATION_BACKENDS = [f"{__name__}.Loose"]

    answer = api.post("login", email="\u00e4nn@example.com", password=PASSWORD)

    assert answer.status == 401


def test_body_without_a_content_length_is_refused(api):
    answer = api.request("POST", "login", b"", HTTP_TRANSFER_ENCODING="chunked")

    assert (answer.status, answer.code) == (400, "INVALID_REQUEST_BODY")


def test_signup_that_could_never_log_in_creates_no_account(api, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    answer = api.post("signup", username="ann42", password=PASSWORD)

    assert (answer.status, answer.code) == (400, "VALIDATION_ERROR")


@pytest.mark.django_db(transaction=True)
def test_password_reset_ends_a_lockout_caused_by_unknown_clients(api, mailed):
    api.sign_up()
    for _ in range(11):
        api.post("login", email="ann@example.com", password="wrong")
    api.post("forgot-password", email="ann@example.com")
    new = "fig tart 43 doors"
    body = {"token": mailed.last_token, "email": "ann@example.com", "new_password": new}
    reset = api.request("POST", "reset-password", body)
    assert reset.status == 200, reset.body

    assert api.post("login", email="ann@example.com", password=new).status == 200


@pytest.fixture
def mailed():
    with mailbox() as box:
        yield box
