"""A notice names the browser parsed from `User-Agent` and never repeats text of that header."""

import pytest
from django.utils import translation

from authservice.notification.mail import browser

MOZILLA = "Mozilla/5.0"
KNOWN = {
    f"{MOZILLA} (Windows NT 10.0; Win64; x64; rv:135.0) Gecko/20100101 Firefox/135.0": (
        "Firefox on Windows"
    ),
    f"{MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/18.2 Safari/605.1.15": "Safari on macOS",
    f"{MOZILLA} (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/133.0.0.0"
    " Safari/537.36": "Chrome on Linux",
    f"{MOZILLA} (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/133.0.0.0 Safari/537.36 Edg/133.0.0.0": "Edge on Windows",
    f"{MOZILLA} (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0"
    " Chrome/125.0.0.0 Mobile Safari/537.36": "Samsung Internet on Android",
    f"{MOZILLA} (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " CriOS/133.0.6943.33 Mobile/15E148 Safari/604.1": "Chrome on iOS",
    f"{MOZILLA} (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/133.0.0.0 Safari/537.36": "Chrome on ChromeOS",
    f"{MOZILLA} (PlayStation; Other) Firefox/1": "Firefox",
}
UNKNOWN = [
    "",
    "curl/8.11.1",
    "URGENT: your account is blocked. Unblock it now at https://evil.example/unblock",
    "Firefox/ on Windows, call 0900 12345",
    f"{MOZILLA} (call 0900 12345)",
]


@pytest.mark.parametrize(("user_agent", "words"), KNOWN.items())
def test_common_browser_is_named_with_its_system(user_agent, words):
    assert browser(user_agent) == words


@pytest.mark.parametrize("user_agent", UNKNOWN)
def test_other_client_is_an_unknown_browser(user_agent):
    assert browser(user_agent) == "an unknown browser"


@pytest.mark.parametrize("user_agent", [*KNOWN, *UNKNOWN])
def test_text_of_the_client_is_never_repeated(user_agent):
    words = browser(f"{user_agent} https://evil.example")

    assert "evil" not in words
    assert len(words) < 30


def test_browser_is_named_in_german():
    with translation.override("de"):
        assert browser(next(iter(KNOWN))) == "Firefox unter Windows"
        assert browser("") == "ein unbekannter Browser"
