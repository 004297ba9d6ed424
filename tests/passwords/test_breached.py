"""`NotBreached`: what its server gets, what it refuses, and a server that fails."""

import time
from threading import Barrier, Event, Thread

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction

from authservice.core.credentials.password_rules import is_breached
from authservice.validators import NotBreached
from tests.kernel.outbound.servers import served
from tests.passwords.ranges import OK, digest, sized
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, prove

pytestmark = pytest.mark.django_db

EVENT = "security.breach_check.unavailable"
# 0.8 s, and the rest of a sign-up on a busy machine. The slow servers of these tests take 5 s.
WAIT = 2.5


def sign_up(api, number=0, password=PASSWORD):
    return api.post("signup", email=f"ann{number}@example.com", password=password)


def timed(call):
    start = time.monotonic()
    result = call()
    return result, time.monotonic() - start


def refuses(validator, password):
    try:
        validator.validate(password)
    except ValidationError as error:
        return error.code == "password_breached"
    return False


def test_breached_password_is_refused_at_sign_up(api, ranges):
    ranges.breached.add(PASSWORD)

    answer = sign_up(api)

    assert answer.error == (400, "INVALID_PASSWORD")
    assert "known from a data breach" in answer.data["message"]


def test_other_password_is_accepted(api, ranges):
    ranges.breached.add(NEW)

    assert sign_up(api).status == 201
    assert len(ranges.asked) == 1


def test_breached_password_is_refused_at_a_change(api, ranges):
    ranges.breached.add(NEW)
    token = sign_up(api).data["access_token"]

    body = {"old_password": PASSWORD, "new_password": NEW}
    answer = api.request("PUT", "change-password", body, token=token)

    assert answer.error == (400, "INVALID_PASSWORD")


def test_breached_password_is_refused_at_a_reset_whose_link_works_again(api, flows, ranges):
    ranges.breached.add(NEW)
    api.sign_up(ANN)
    prove()
    token = flows.reset_token()

    assert flows.reset(token).error == (400, "INVALID_PASSWORD")
    assert flows.reset(token, new_password=f"{NEW} 2").status == 200


def test_server_gets_five_characters_of_the_digest_and_nothing_else(api, ranges):
    sign_up(api)

    (request,) = ranges.asked
    line, *headers = request.decode().strip().split("\r\n")
    assert line == f"GET /range/{digest(PASSWORD)[:5]} HTTP/1.1"
    assert dict(header.lower().split(": ", 1) for header in headers) == {
        "host": f"127.0.0.1:{ranges.server.port}",
        "accept": "text/plain",
        "accept-encoding": "identity",
        "add-padding": "true",
        "user-agent": "authservice",
    }


def test_padding_is_no_breach(api, ranges):
    ranges.padded.add(PASSWORD)

    assert sign_up(api).status == 201


def test_digests_in_lower_case_are_compared(api, ranges):
    ending = digest(PASSWORD)[5:].lower()
    ranges.fault = lambda client, _: client.sendall(sized(f"{ending}:3\n".encode()))

    assert sign_up(api).error == (400, "INVALID_PASSWORD")


def test_rule_is_in_the_language_of_the_client(api, ranges, settings):
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch")]
    ranges.breached.add(PASSWORD)

    body = {"email": ANN, "password": PASSWORD}
    answer = api.request("POST", "signup", body, headers={"Accept-Language": "de"})

    assert "Datenleck" in answer.data["message"]


# A server that fails


def silent(client, server):
    server.stopped.wait(5)


def dripping(client, server):
    client.sendall(OK + b"\r\n")
    for _ in range(100):
        if server.stopped.wait(0.05):
            return
        client.sendall(b"x")


def huge(client, server):
    client.sendall(OK + b"Content-Length: 104857600\r\n\r\n")
    for _ in range(100):
        client.sendall(b"0" * 1024 * 1024)


def answering(response):
    return lambda client, server: client.sendall(response)


FAULTS = {
    "silent": silent,
    "dripping": dripping,
    "huge": huge,
    "a page of a proxy": answering(sized(b"<html>Please sign in</html>")),
    "one wrong line": answering(sized(b"0018A45C4D1DEF81644B54AB7F969B88D65:3\r\nwrong\r\n")),
    "empty": answering(sized(b"")),
    "an error": answering(sized(b"", b"HTTP/1.1 503 Service Unavailable\r\n")),
    "a redirect": answering(sized(b"", b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n")),
    "no HTTP": answering(b"\x00\x01\x02"),
    "closed": answering(b""),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_failing_server_delays_one_sign_up_and_refuses_none(api, ranges, recorded, fault):
    sign_up(api, 9)  # the first request of a process loads code
    ranges.asked.clear()
    ranges.breached.add(PASSWORD)
    ranges.fault = fault

    answer, seconds = timed(lambda: sign_up(api))
    further = [sign_up(api, number).status for number in range(1, 4)]

    assert (answer.status, further) == (201, [201] * 3)
    assert seconds < WAIT
    assert len(ranges.asked) == 1
    events = [event for event in recorded if event.action == EVENT]
    assert [(event.actor_type, event.user) for event in events] == [("system", None)]


def test_server_that_is_away_refuses_no_sign_up(api, ranges, validate, recorded):
    with served() as server:
        pass
    validate("NotBreached", url=server.url)

    assert [sign_up(api, number).status for number in range(2)] == [201, 201]
    assert [event.metadata for event in recorded if event.action == EVENT] == [
        {"reason": "Unreachable"}
    ]


def test_address_that_is_refused_delays_no_sign_up(api, ranges, configure):
    configure(OUTBOUND={})

    assert sign_up(api).status == 201
    assert ranges.asked == []


def test_server_is_asked_once_a_minute_until_it_answers(ranges, later, recorded):
    ranges.breached.add(PASSWORD)
    ranges.fault = FAULTS["an error"]
    validator = NotBreached(ranges.url)
    for _ in range(3):
        assert not refuses(validator, PASSWORD)
        later(59)
        assert not refuses(validator, PASSWORD)
        later(2)
    assert len(ranges.asked) == 3

    ranges.fault = None

    assert [refuses(validator, PASSWORD) for _ in range(2)] == [True, True]
    assert len(ranges.asked) == 5
    assert [event.action for event in recorded] == [EVENT]


def test_one_request_tries_again_while_others_do_not_wait(ranges, later):
    ranges.fault = silent
    validator = NotBreached(ranges.url)
    validator.validate(PASSWORD)
    later(61)
    start, seconds = Barrier(4), []

    def ask():
        start.wait()
        seconds.append(timed(lambda: validator.validate(PASSWORD))[1])

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(ranges.asked) == 2
    assert seconds[-1] == max(seconds) >= 0.7


@pytest.mark.timed
@pytest.mark.parametrize("fault", [silent, dripping], ids=["silent", "dripping"])
def test_failing_server_delays_a_password_by_less_than_a_second(ranges, fault):
    """0.8 s, and a tenth for what is not the server's: the digest, the connection and the threads
    of this machine."""
    assert is_breached(PASSWORD, ranges.url) is False  # the first request of a process loads code
    ranges.fault = fault

    listed, seconds = timed(lambda: is_breached(PASSWORD, ranges.url))

    assert listed is None
    assert 0.7 < seconds <= 0.9


@pytest.mark.timed
def test_first_failure_of_several_requests_at_once_delays_none_that_starts_later(ranges, recorded):
    """Those that are waiting go on: at most `OUTBOUND.IN_FLIGHT`, and the others are not sent."""
    at_once = 16
    assert is_breached(PASSWORD, ranges.url) is False
    ranges.asked.clear()
    ranges.fault = silent
    start, waited = Barrier(at_once), []
    first_failure, later = Event(), []

    def ask():
        start.wait()
        waited.append(timed(lambda: is_breached(PASSWORD, ranges.url)))
        if waited[-1][1] > 0.5:
            first_failure.set()

    def ask_later():
        first_failure.wait()
        later.append(timed(lambda: is_breached(PASSWORD, ranges.url)))

    threads = [Thread(target=ask) for _ in range(at_once)]
    threads += [Thread(target=ask_later) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {listed for listed, _ in waited + later} == {None}
    assert max(seconds for _, seconds in waited) <= 1
    assert max(seconds for _, seconds in later) < 0.1
    assert len(ranges.asked) == 4
    assert sum(seconds > 0.5 for _, seconds in waited) == 4
    assert [event.action for event in recorded] == [EVENT]


def test_nothing_is_asked_in_a_transaction(ranges, recorded):
    ranges.breached.add(PASSWORD)
    validator = NotBreached(ranges.url)

    with transaction.atomic():
        assert not refuses(validator, PASSWORD)

    assert (ranges.asked, recorded) == ([], [])
    assert refuses(validator, PASSWORD)


def test_password_in_a_transaction_does_not_use_up_the_one_try_of_a_minute(ranges, later):
    ranges.breached.add(PASSWORD)
    ranges.fault = FAULTS["an error"]
    validator = NotBreached(ranges.url)
    assert not refuses(validator, PASSWORD)
    ranges.fault = None
    later(61)

    with transaction.atomic():
        assert not refuses(validator, PASSWORD)

    assert refuses(validator, PASSWORD)


def test_full_number_of_requests_in_flight_opens_no_circuit(ranges, recorded, configure):
    configure(
        OUTBOUND={
            "PRIVATE_HOSTS": ["127.0.0.1"],
            "INSECURE_HOSTS": ["127.0.0.1"],
            "IN_FLIGHT": 1,
        }
    )
    ranges.breached.add(PASSWORD)
    validator, nested = NotBreached(ranges.url), []

    def slow(client, server):
        ranges.fault = None
        nested.append(refuses(validator, PASSWORD))
        ranges(client, server)

    ranges.fault = slow

    assert refuses(validator, PASSWORD)
    assert nested == [False]
    assert recorded == []
