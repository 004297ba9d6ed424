"""The provider as the tests see it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from tests.oauth.servers import NoRedirects, OpenIDServer, in_process

_HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')


class ToolkitServer(OpenIDServer):
    """Its users log in with a password, which is the subject, before they are asked to approve. It
    requires a code challenge and checks the verifier."""

    def approve(self, authorization_url: str, subject: str) -> str:
        visitor = _Visitor(self.issuer)
        login = visitor.redirected(authorization_url)
        consent = visitor.submit(login, username=subject, password=subject)
        return visitor.submit(consent, allow="Authorize")

    def deny(self, authorization_url: str) -> str:
        visitor = _Visitor(self.issuer)
        login = visitor.redirected(authorization_url)
        self.add_user("somebody")
        return visitor.submit(visitor.submit(login, username="somebody", password="somebody"))


class _Visitor:
    """A browser that fills in forms and is redirected by each."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._browser = build_opener(NoRedirects, HTTPCookieProcessor())

    def redirected(self, address: str, form: dict[str, str] | None = None) -> str:
        # urllib raises redirects that are not followed.
        with pytest.raises(HTTPError) as raised:
            self._browser.open(address, urlencode(form).encode() if form else None)
        with raised.value as answer:
            assert answer.status == 302
            return urljoin(self._origin, answer.headers["Location"])

    def submit(self, address: str, **fields: str) -> str:
        with self._browser.open(address) as answer:
            page = answer.read().decode()
        hidden = {name: unescape(value) for name, value in _HIDDEN.findall(page)}
        return self.redirected(address, {**hidden, **fields})


@contextmanager
def toolkit_server() -> Iterator[ToolkitServer]:
    with in_process("tests.oauth.toolkit") as issuer:
        yield ToolkitServer(issuer)
