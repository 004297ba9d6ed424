"""A person with a browser: opens links, reads pages, fills in their forms and sends them."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.http import HttpResponse
from django.test import Client, TestCase

FORM = "application/x-www-form-urlencoded"
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
SAME, OTHER = {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "cross-site"}
_FORM = re.compile(r"<form [^>]*>.*?</form>", re.DOTALL)
_INPUT = re.compile(r"<input ([^>]*)>")
_ATTRIBUTE = re.compile(r'([a-z-]+)(?:="([^"]*)")?')


@dataclass
class Page:
    response: HttpResponse

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def html(self) -> str:
        return self.response.content.decode()

    @property
    def text(self) -> str:
        """What a person reads, without the style sheet."""
        body = self.html.partition("<body>")[2]
        return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))).strip()

    @property
    def heading(self) -> str:
        found = re.search(r"<h1>(.*?)</h1>", self.html, re.DOTALL)
        assert found, self.html
        return html.unescape(found[1])

    @property
    def has_form(self) -> bool:
        return bool(_FORM.search(self.html))

    @property
    def action(self) -> str:
        found = re.search(r'<form method="post" action="([^"]*)"', self.html)
        assert found, self.html
        return found[1]

    @property
    def inputs(self) -> dict[str, dict[str, str]]:
        """The attributes of each named input."""
        found = [dict(_ATTRIBUTE.findall(text)) for text in _INPUT.findall(self.html)]
        return {one["name"]: one for one in found if "name" in one}

    @property
    def values(self) -> dict[str, str]:
        return {name: html.unescape(one.get("value", "")) for name, one in self.inputs.items()}


class Reader:
    """Keeps cookies as a browser does."""

    def __init__(self) -> None:
        self.client = Client()

    def open(self, url: str, *, accept: str = ACCEPT, **headers: str) -> Page:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        with TestCase.captureOnCommitCallbacks(execute=True):
            return Page(self.client.get(path, headers={"Accept": accept, **headers}))

    def send(self, page: Page, *, headers: Any = SAME, accept: str = ACCEPT, **typed: str) -> Page:
        """Fill in the form of the page and send it."""
        body = urlencode({**page.values, **typed})
        with TestCase.captureOnCommitCallbacks(execute=True):
            return Page(
                self.client.post(
                    page.action, body, content_type=FORM, headers={"Accept": accept, **headers}
                )
            )
