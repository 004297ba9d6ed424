"""Requests for a message: forgot-password and the four routes that send a verification."""

import pytest

from authservice.core.messages import kinds
from authservice.core.models import OneTimeToken
from authservice.kernel import modules
from tests.contract.shapes import is_refusal
from tests.support.flows import ANN, PHONE

pytestmark = pytest.mark.django_db

BY_EMAIL = {
    "forgot-password": kinds.RESET_BY_LINK,
    "send-verification-email": kinds.VERIFY_EMAIL,
    "resend-verification-email": kinds.VERIFY_EMAIL,
}
BY_PHONE = {
    "forgot-password": kinds.RESET_BY_CODE,
    "send-verification-phone": kinds.VERIFY_PHONE,
    "resend-verification-phone": kinds.VERIFY_PHONE,
}
ROUTES = [(path, {"email": ANN}, kind) for path, kind in BY_EMAIL.items()] + [
    (path, {"phone": PHONE}, kind) for path, kind in BY_PHONE.items()
]
PHONE_RULE = "phone: Must be a possible number in E.164 form, as +4930123456."
EMAIL_RULE = "email: Must be an e-mail address."
ONE = "email: Exactly one of email and phone is required."


@pytest.mark.parametrize(("path", "body", "_"), ROUTES)
def test_success_returns_200_with_a_message_only(api, ann, path, body, _):
    answer = api.post(path, **body)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


@pytest.mark.parametrize(("path", "body", "kind"), ROUTES)
def test_job_has_kind_target_and_request_id(api, ann, post, path, body, kind):
    api.post(path, headers={"X-Request-ID": "trace-1"}, **body)

    [job] = post.jobs
    assert (job.kind, job.target, job.request_id, job.details) == (
        kind,
        *body.values(),
        "trace-1",
        {},
    )


@pytest.mark.parametrize(("path", "body", "_"), ROUTES)
def test_request_issues_no_one_time_token_before_the_worker_runs(api, ann, path, body, _):
    api.post(path, **body)

    assert OneTimeToken.objects.count() == 0


@pytest.mark.parametrize("path", BY_PHONE)
def test_number_without_an_sms_sender_is_sms_not_configured(api, ann, post, path):
    post.can_sms = False

    answer = api.post(path, phone=PHONE)

    assert is_refusal(answer, 501, "SMS_NOT_CONFIGURED")
    assert post.jobs == []


@pytest.mark.parametrize("path", BY_PHONE)
def test_number_without_a_messenger_is_sms_not_configured(api, path):
    with modules.plugged("messenger", None):
        assert is_refusal(api.post(path, phone=PHONE), 501, "SMS_NOT_CONFIGURED")


@pytest.mark.parametrize("path", BY_EMAIL)
def test_address_without_an_sms_sender_gets_an_email(api, ann, post, path):
    post.can_sms = False

    assert api.post(path, email=ANN).status == 200
    assert len(post.jobs) == 1


@pytest.mark.parametrize("path", BY_EMAIL)
def test_address_is_trimmed(api, ann, post, path):
    api.post(path, email=f"  {ANN}  ")

    assert [job.target for job in post.jobs] == [ANN]


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("forgot-password", {}, ONE),
        ("forgot-password", {"email": "", "phone": ""}, ONE),
        ("forgot-password", {"email": ANN, "phone": PHONE}, ONE),
        ("forgot-password", {"email": "nobody"}, EMAIL_RULE),
        ("forgot-password", {"phone": "030123456"}, PHONE_RULE),
        ("send-verification-email", {}, "email: This field is required."),
        ("send-verification-email", {"email": ""}, "email: This field may not be blank."),
        ("send-verification-email", {"email": "nobody"}, EMAIL_RULE),
        ("send-verification-email", {"phone": PHONE}, "email: This field is required."),
        ("resend-verification-email", {"email": "nobody"}, EMAIL_RULE),
        ("send-verification-phone", {}, "phone: This field is required."),
        ("send-verification-phone", {"phone": ""}, "phone: This field may not be blank."),
        ("send-verification-phone", {"phone": f" {PHONE}"}, PHONE_RULE),
        ("send-verification-phone", {"email": ANN}, "phone: This field is required."),
        ("resend-verification-phone", {"phone": "+49"}, PHONE_RULE),
    ],
)
def test_invalid_field_is_a_validation_error_that_names_field_and_rule(
    api, post, path, body, message
):
    answer = api.post(path, **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message
    assert post.jobs == []


@pytest.mark.parametrize(("path", "body", "_"), ROUTES)
def test_unavailable_queue_does_not_change_the_response(api, ann, post, monkeypatch, path, body, _):
    usual = api.post(path, **body).body

    def fail(message):
        raise ConnectionError("the queue is unavailable")

    monkeypatch.setattr(post, "send", fail)

    assert api.post(path, **body).body == usual
