"""Authenticators that Chromium has only for tests, and what the browser does to their passkeys.

They belong to the session of the DevTools protocol that added them, which gets the events too, so
they have a session of their own beside that of chromedriver.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any
from urllib.request import urlopen

import websocket
from selenium.webdriver import Chrome

PLATFORM = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
SYNCED = {**PLATFORM, "defaultBackupEligibility": True, "defaultBackupState": True}
SECURITY_KEY = {
    **PLATFORM,
    "transport": "usb",
    "hasResidentKey": False,
    "hasUserVerification": False,
    "isUserVerified": False,
}


class DevTools:
    """A session of the DevTools protocol with the page that the browser shows."""

    def __init__(self, url: str) -> None:
        self._socket = websocket.create_connection(url, timeout=20, suppress_origin=True)
        self._numbers = count(1)
        self._events: list[tuple[str, Any]] = []

    def call(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self._events.append((message["method"], message.get("params")))

    def events(self, name: str) -> list[Any]:
        """The events of this name since the last call."""
        self.call("WebAuthn.enable")  # everything before the answer has arrived
        found = [params for method, params in self._events if method == name]
        self._events = [event for event in self._events if event[0] != name]
        return found

    def close(self) -> None:
        self._socket.close()


class Virtual:
    """A device of the user."""

    def __init__(self, devtools: DevTools, options: dict[str, Any]) -> None:
        self._devtools = devtools
        added = devtools.call("WebAuthn.addVirtualAuthenticator", options=options)
        self.id, self._is_here = added["authenticatorId"], True

    def credentials(self) -> list[dict[str, Any]]:
        got = self._devtools.call("WebAuthn.getCredentials", authenticatorId=self.id)
        return list(got["credentials"])

    def add(self, credential: dict[str, Any]) -> None:
        self._devtools.call(
            "WebAuthn.addCredential", authenticatorId=self.id, credential=credential
        )

    def remove(self) -> None:
        """Take it away, with its passkeys; again is allowed."""
        if self._is_here:
            self._devtools.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=self.id)
        self._is_here = False


@contextmanager
def devtools(browser: Chrome) -> Iterator[DevTools]:
    address = browser.capabilities["goog:chromeOptions"]["debuggerAddress"]
    with urlopen(f"http://{address}/json/list") as answer:
        targets = json.load(answer)
    (url,) = [one["webSocketDebuggerUrl"] for one in targets if one["type"] == "page"]
    session = DevTools(url)
    session.call("WebAuthn.enable", enableUI=False)
    try:
        yield session
    finally:
        session.close()
