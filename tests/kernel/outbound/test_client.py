"""The client against real servers on loopback."""

import base64
import logging

import pytest
from django.db import connection, transaction

from authservice.kernel.outbound import (
    BadStatus,
    InsideTransaction,
    OutboundError,
    Refused,
    Unreachable,
    http_client,
)
from authservice.kernel.outbound.http_client import Basic
from authservice.kernel.secret import Secret
from tests.kernel.outbound.calls import get, response
from tests.kernel.outbound.servers import served


def test_response_has_status_headers_and_json(outbound):
    answer = response(b'{"a": [1]}', b"Content-Length: 10\r\nX-Thing: yes\r\n", b"201 Created")
    with served(answer) as server:
        received = get(server.url + "path?x=1")

    assert (received.status, received.json()) == (201, {"a": [1]})
    assert received.headers["x-thing"] == "yes"
    assert server.requests[0].startswith(b"GET /path?x=1 HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{server.port}\r\n".encode() in server.requests[0]


def test_representation_of_a_response_has_no_body(outbound):
    """Error reports show the variables of each frame, and a response may have tokens."""
    answer = response(b'{"access_token": "of-a-provider"}', b"Content-Length: 33\r\n")
    with served(answer) as server:
        received = get(server.url)

    assert received.json() == {"access_token": "of-a-provider"}
    assert "of-a-provider" not in f"{received!r} {received}"


def test_form_and_basic_credentials_are_encoded(outbound):
    with served() as server:
        basic = Basic(client_id="a:b", client_secret=Secret("c d"))
        http_client.post_form(server.url, {"code": Secret("é&=")}, service="test", basic=basic)

    request = server.requests[0]
    assert b"Authorization: Basic " + base64.b64encode(b"a%3Ab:c+d") in request
    assert b"Content-Length: 17\r\n" in request


def test_bearer_token_is_sent(outbound):
    with served() as server:
        get(server.url, bearer=Secret("token-1"))

    assert b"Authorization: Bearer token-1\r\n" in server.requests[0]


@pytest.mark.parametrize("url", ["ftp://a.test/", "file:///etc/passwd", "//a.test", "", "http:/x"])
def test_url_that_is_not_http_is_refused(outbound, url):
    with pytest.raises(Refused):
        get(url)


def test_url_with_user_info_is_refused(outbound):
    with pytest.raises(Refused):
        get("https://name:secret@a.test/")


def test_plain_http_to_a_host_that_is_not_named_is_refused(outbound):
    outbound(INSECURE_HOSTS=[])
    with served() as server, pytest.raises(Refused):
        get(server.url)
    assert server.requests == []


def test_private_address_that_is_not_named_is_refused(outbound):
    outbound(PRIVATE_HOSTS=[])
    with served() as server, pytest.raises(Refused):
        get(server.url)
    assert server.requests == []


def test_redirect_to_a_link_local_address_is_not_followed(outbound):
    moved = response(
        b"", b"Location: http://169.254.169.254/latest\r\nContent-Length: 0\r\n", b"302 Found"
    )
    with served(moved) as server:
        received = get(server.url)

    assert received.status == 302
    with pytest.raises(BadStatus):
        received.raise_for_status()
    assert len(server.requests) == 1


def test_connection_goes_to_the_address_that_was_checked(outbound, names):
    names["rebind.test"] = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]]
    outbound(PRIVATE_HOSTS=["rebind.test"], INSECURE_HOSTS=["rebind.test"])
    with served() as checked, served(address="127.0.0.2", port=checked.port) as other:
        get(f"http://rebind.test:{checked.port}/")

    assert names.asked == ["rebind.test"]
    assert len(checked.requests) == 1
    assert other.requests == []


def test_name_that_changes_to_a_private_address_is_refused(outbound, names):
    names["rebind.test"] = [["127.0.0.1"]]
    outbound(INSECURE_HOSTS=["rebind.test"])
    with served() as server, pytest.raises(Refused):
        get(f"http://rebind.test:{server.port}/")
    assert server.requests == []


def test_second_address_is_used_if_the_first_refuses(outbound, names):
    names["two.test"] = ["127.0.0.3", "127.0.0.1"]
    outbound(PRIVATE_HOSTS=["two.test"], INSECURE_HOSTS=["two.test"])
    with served() as server:
        assert get(f"http://two.test:{server.port}/").status == 200


def test_certificate_is_checked_against_the_host_name(outbound, names, authority):
    names["shop.test"] = names["other.test"] = ["127.0.0.1"]
    outbound(PRIVATE_HOSTS=["shop.test", "other.test"], CA_FILE=authority.file)
    with served(tls=authority.context("shop.test")) as server:
        assert get(f"https://shop.test:{server.port}/").status == 200
        with pytest.raises(Unreachable, match="SSL"):
            get(f"https://other.test:{server.port}/")

    assert len(server.requests) == 1


def test_certificate_of_an_unknown_authority_is_refused(outbound, names, authority):
    names["shop.test"] = ["127.0.0.1"]
    outbound(PRIVATE_HOSTS=["shop.test"])
    with served(tls=authority.context("shop.test")) as server, pytest.raises(Unreachable):
        get(f"https://shop.test:{server.port}/")
    assert server.requests == []


def test_request_ignores_proxies_and_netrc_of_the_environment(outbound, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login eve password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with served() as proxy, served() as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        get(server.url)

    assert proxy.requests == []
    assert b"Authorization" not in server.requests[0]


@pytest.mark.django_db(transaction=True)
def test_request_inside_a_transaction_is_refused(outbound):
    with served() as server:
        with transaction.atomic(), pytest.raises(InsideTransaction):
            get(server.url)
        assert server.requests == []
        assert get(server.url).status == 200


@pytest.mark.django_db
def test_request_inside_the_transaction_of_a_test_case_is_sent(outbound):
    assert connection.in_atomic_block
    with served() as server:
        assert get(server.url).status == 200
        with transaction.atomic(), pytest.raises(InsideTransaction):
            get(server.url)


@pytest.mark.parametrize("key", ["INSECURE_HOSTS", "PRIVATE_HOSTS"])
def test_log_of_a_refused_request_names_the_setting(outbound, caplog, key):
    outbound(**{key: []})

    with served() as server, pytest.raises(Refused):
        get(server.url)

    assert f"OUTBOUND.{key}" in caplog.messages[-1]
    assert "127.0.0.1" in caplog.messages[-1]


def test_errors_and_logs_show_neither_query_nor_token(outbound, caplog):
    caplog.set_level(logging.DEBUG)
    with served(b"") as server, pytest.raises(OutboundError) as raised:
        get(server.url + "?key=s3cret", bearer=Secret("t0ken"))

    assert caplog.messages[-1] == f"A request to test failed: {raised.value}"
    assert str(raised.value).startswith("127.0.0.1 cannot be reached")
    assert raised.value.__suppress_context__
    for text in (str(raised.value), caplog.text):
        assert "s3cret" not in text
        assert "t0ken" not in text


def test_locals_of_every_frame_show_neither_body_nor_token(outbound):
    with served(b"") as server, pytest.raises(OutboundError) as raised:
        http_client.post_form(
            server.url,
            {"code": Secret("c0de")},
            service="test",
            basic=Basic(client_id="a", client_secret=Secret("s3cret")),
        )

    trace = raised.value.__traceback__
    shown = ""
    while trace:
        if "outbound" in trace.tb_frame.f_code.co_filename.rpartition("authservice/")[2]:
            shown += repr(trace.tb_frame.f_locals)
        trace = trace.tb_next
    assert "Secret(...)" in shown
    assert "c0de" not in shown
    assert base64.b64encode(b"a:s3cret").decode() not in shown
