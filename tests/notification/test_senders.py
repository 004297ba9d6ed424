"""Text messages, through each sender and to a server of its kind."""

import base64
import json
import time
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs

import pytest
import requests
from twilio.base.exceptions import TwilioRestException

from authservice.kernel import message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.notification.senders import sender
from tests.notification.conftest import PHONE
from tests.notification.servers import Mute

pytestmark = pytest.mark.django_db

sent = []


def own_sender(to, body):
    sent.append((to, body))


def text(kind="verify-phone"):
    worker.deliver(Message(kind=kind, target=PHONE))


def test_a_number_is_verified_by_a_code_of_six_digits(phone, notify):
    notify(SMS_SENDER="tests.notification.test_senders.own_sender", BRAND={"name": "Tom & Co"})

    text()

    to, body = sent.pop()
    assert to == PHONE
    assert body[:6].isdigit()
    assert body[6:].startswith(" is your Tom & Co code to confirm this number. It works for 10 min")
    assert "\n" not in body


def test_a_proven_number_gets_codes_to_reset(proven, notify):
    notify(SMS_SENDER="tests.notification.test_senders.own_sender")
    proven()

    text("reset-code")

    assert "new password" in sent.pop()[1]


def test_the_console_sender_prints_to_the_log(phone, notify, logged):
    notify(SMS_SENDER="console")

    text()

    [line] = logged("SMS to")
    assert line.startswith(f"SMS to {PHONE}: ")


def test_the_webhook_gets_json(phone, notify, gateway):
    notify(SMS_SENDER="webhook", SMS_WEBHOOK_URL=f"{gateway.url}/sms?key=1")

    text()

    [(method, path, headers, body)] = gateway.requests
    assert (method, path) == ("POST", "/sms?key=1")
    assert headers["Content-Type"] == "application/json"
    assert set(json.loads(body)) == {"to", "body"}
    assert json.loads(body)["to"] == PHONE


@pytest.mark.parametrize("status", [302, 307, 400, 500])
def test_every_answer_of_the_webhook_but_2xx_is_a_failure(notify, gateway, status):
    notify(SMS_SENDER="webhook", SMS_WEBHOOK_URL=gateway.url)
    gateway.status = status
    gateway.headers = {"Location": f"{gateway.url}/elsewhere"}

    with pytest.raises(HTTPError) as raised:
        sender()(PHONE, "hello")
    raised.value.close()

    assert len(gateway.requests) == 1


def test_a_webhook_that_hangs_is_given_up(notify):
    with Mute() as server:
        url = f"http://127.0.0.1:{server.port}"
        notify(SMS_SENDER="webhook", SMS_WEBHOOK_URL=url, SMS_WEBHOOK_TIMEOUT=0.1)
        start = time.monotonic()

        with pytest.raises((TimeoutError, URLError)):
            sender()(PHONE, "hello")

    assert time.monotonic() - start < 2


@pytest.fixture
def twilio(notify, gateway, monkeypatch):
    """Twilio's own package, led to a server of ours at the level of the wire."""
    real = requests.adapters.HTTPAdapter.send

    def send(adapter, request, **options):
        assert request.url.startswith("https://api.twilio.com/")
        request.url = request.url.replace("https://api.twilio.com", gateway.url)
        return real(adapter, request, **options)

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    gateway.status = 201
    gateway.body = {"sid": "SM1", "status": "queued"}

    def choose(origin="+15005550006"):
        notify(
            SMS_SENDER="twilio",
            TWILIO_ACCOUNT_SID="AC1",
            TWILIO_AUTH_TOKEN="token",
            TWILIO_FROM=origin,
        )
        return gateway

    return choose


def test_twilio_gets_the_message(phone, twilio):
    gateway = twilio()

    text()

    [(method, path, headers, body)] = gateway.requests
    form = parse_qs(body.decode())
    assert (method, path) == ("POST", "/2010-04-01/Accounts/AC1/Messages.json")
    assert headers["Authorization"] == "Basic " + base64.b64encode(b"AC1:token").decode()
    assert form["To"] == [PHONE]
    assert form["From"] == ["+15005550006"]
    assert "code to confirm" in form["Body"][0]


def test_twilio_may_choose_the_number_from_a_messaging_service(phone, twilio):
    gateway = twilio("MG1")

    text()

    form = parse_qs(gateway.requests[0][3].decode())
    assert form["MessagingServiceSid"] == ["MG1"]
    assert "From" not in form


def test_a_refusal_of_twilio_is_a_failure(phone, twilio):
    gateway = twilio()
    gateway.status = 400
    gateway.body = {"code": 21211, "message": f"{PHONE} is no number", "status": 400}

    with pytest.raises(TwilioRestException):
        text()


def test_a_refusal_is_logged_without_the_number(phone, twilio, logged, caplog):
    gateway = twilio()
    gateway.status = 400
    gateway.body = {"code": 21211, "message": f"{PHONE} is no number", "status": 400}

    assert not worker.attempt(Message(kind="verify-phone", target=PHONE, request_id="r1"), 1)

    [line] = logged("Could not")
    assert line.startswith("Could not send verify-phone of request r1, attempt 1: Twilio")
    assert "(21211)" in line
    assert PHONE not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_gateway_that_fails_is_tried_again(phone, notify, gateway, eventually, logged):
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

    # Before it has gone through, the next try would be some other test's.
    eventually(lambda: 200 in gateway.answered)
    assert "HTTPError (503)" in logged("Could not")[0]
    assert logged("Lost") == []
