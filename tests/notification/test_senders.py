"""Text messages by each sender, received by a real server."""

import base64
import json
import time
from urllib.parse import parse_qs

import pytest
import requests
from twilio.base.exceptions import TwilioRestException

from authservice.kernel import message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.kernel.outbound import BadStatus, Refused, TimedOut
from authservice.notification import worker
from authservice.notification.senders import sender
from tests.notification.conftest import PHONE
from tests.notification.servers import Silent

pytestmark = pytest.mark.django_db

sent = []


def own_sender(to, body):
    sent.append((to, body))


def send(kind="verify-phone"):
    worker.deliver(Message(kind=kind, target=PHONE))


def test_verification_message_starts_with_a_code_of_six_digits(phone, notify):
    notify(SMS_SENDER="tests.notification.test_senders.own_sender", BRAND={"name": "Tom & Co"})

    send()

    to, body = sent.pop()
    assert to == PHONE
    assert body[:6].isdigit()
    assert body[6:].startswith(" is your Tom & Co code to confirm this number. It works for 10 min")
    assert "\n" not in body


def test_verified_number_gets_a_reset_code(mark_verified, notify):
    notify(SMS_SENDER="tests.notification.test_senders.own_sender")
    mark_verified()

    send("reset-code")

    assert "new password" in sent.pop()[1]


def test_console_sender_logs_the_message(phone, notify, logged):
    notify(SMS_SENDER="console")

    send()

    [line] = logged("SMS to")
    assert line.startswith(f"SMS to {PHONE}: ")


def test_webhook_receives_json(phone, notify, gateway):
    notify(SMS_SENDER="webhook", SMS_WEBHOOK_URL=f"{gateway.url}/sms?key=1")

    send()

    [(method, path, headers, body)] = gateway.requests
    assert (method, path) == ("POST", "/sms?key=1")
    assert headers["Content-Type"] == "application/json"
    assert set(json.loads(body)) == {"to", "body"}
    assert json.loads(body)["to"] == PHONE


@pytest.mark.parametrize("status", [302, 307, 400, 500])
def test_response_of_the_webhook_other_than_2xx_is_a_failure(notify, gateway, status):
    notify(SMS_SENDER="webhook", SMS_WEBHOOK_URL=gateway.url)
    gateway.status = status
    gateway.headers = {"Location": f"{gateway.url}/elsewhere"}

    with pytest.raises(BadStatus):
        sender()(PHONE, "hello")

    assert len(gateway.requests) == 1


def test_hanging_webhook_times_out(notify):
    with Silent() as server:
        url = f"http://127.0.0.1:{server.port}"
        notify(SMS_SENDER="webhook", SMS_WEBHOOK_URL=url, SMS_WEBHOOK_TIMEOUT=0.1)
        start = time.monotonic()

        with pytest.raises(TimedOut):
            sender()(PHONE, "hello")

    assert time.monotonic() - start < 2


def test_a_webhook_at_a_private_address_needs_to_be_allowed_by_name(notify, configure, gateway):
    notify(SMS_SENDER="webhook", SMS_WEBHOOK_URL=gateway.url)
    configure(OUTBOUND={"INSECURE_HOSTS": ["127.0.0.1"]})

    with pytest.raises(Refused):
        sender()(PHONE, "hello")

    assert gateway.requests == []


@pytest.fixture
def twilio(notify, gateway, monkeypatch):
    """The package of Twilio, whose HTTP requests are redirected to the `gateway`."""
    real = requests.adapters.HTTPAdapter.send

    def send(adapter, request, **options):
        assert request.url.startswith("https://api.twilio.com/")
        request.url = request.url.replace("https://api.twilio.com", gateway.url)
        return real(adapter, request, **options)

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    gateway.status = 201
    gateway.body = {"sid": "SM1", "status": "queued"}

    def choose(sender_id="+15005550006"):
        notify(
            SMS_SENDER="twilio",
            TWILIO_ACCOUNT_SID="AC1",
            TWILIO_AUTH_TOKEN="token",
            TWILIO_FROM=sender_id,
        )
        return gateway

    return choose


def test_twilio_receives_the_message(phone, twilio):
    gateway = twilio()

    send()

    [(method, path, headers, body)] = gateway.requests
    form = parse_qs(body.decode())
    assert (method, path) == ("POST", "/2010-04-01/Accounts/AC1/Messages.json")
    assert headers["Authorization"] == "Basic " + base64.b64encode(b"AC1:token").decode()
    assert form["To"] == [PHONE]
    assert form["From"] == ["+15005550006"]
    assert "code to confirm" in form["Body"][0]


def test_twilio_messaging_service_is_the_sender(phone, twilio):
    gateway = twilio("MG1")

    send()

    form = parse_qs(gateway.requests[0][3].decode())
    assert form["MessagingServiceSid"] == ["MG1"]
    assert "From" not in form


def test_refusal_by_twilio_is_a_failure(phone, twilio):
    gateway = twilio()
    gateway.status = 400
    gateway.body = {"code": 21211, "message": f"{PHONE} is no number", "status": 400}

    with pytest.raises(TwilioRestException):
        send()


def test_refusal_by_twilio_is_logged_without_the_number(phone, twilio, logged, caplog):
    gateway = twilio()
    gateway.status = 400
    gateway.body = {"code": 21211, "message": f"{PHONE} is no number", "status": 400}

    fault = worker.attempt(Message(kind="verify-phone", target=PHONE, request_id="r1"), 1)

    assert fault == "TwilioRestException (21211)"
    [line] = logged("Could not")
    assert line.startswith("Could not send verify-phone of request r1, attempt 1: Twilio")
    assert "(21211)" in line
    assert PHONE not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_failing_gateway_is_retried(phone, notify, gateway, eventually, logged):
    notify(
        SMS_SENDER="webhook",
        SMS_WEBHOOK_URL=gateway.url,
        DISPATCHER="thread",
        BACKOFF=0.01,
        RETRIES=100,
    )
    gateway.status = 503
    message_queue.send("verify-phone", PHONE, Client(request_id="r1"))
    eventually(lambda: logged("Could not"))

    gateway.status = 200

    # Otherwise the retry would run during another test.
    eventually(lambda: 200 in gateway.answered)
    assert "BadStatus (503)" in logged("Could not")[0]
    assert logged("Lost") == []
