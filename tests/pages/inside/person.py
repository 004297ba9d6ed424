"""A person with a browser, in a project whose pages are these: they open, fill in, press."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit

from django.middleware.csrf import CSRF_SECRET_LENGTH
from django.test import Client, TestCase

ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"
PASSKEY = "passkey"
FORM = "application/x-www-form-urlencoded"


class _Forms(HTMLParser):
    """The forms of a page: address, and the fields that a browser sends unless they are changed.
    `hidden` are those that only a script submits."""

    def __init__(self, html):
        super().__init__()
        self.forms, self.hidden, self.last, self.select = [], [], None, None
        self.feed(html)

    def handle_starttag(self, tag, pairs):
        given = {name: value if value is not None else "" for name, value in pairs}
        if tag == "form":
            self.last = {}
            forms = self.hidden if "hidden" in given else self.forms
            forms.append((given.get("action", ""), self.last))
        elif self.last is not None and tag == "input" and "name" in given:
            unset = given.get("type") == "checkbox" and "checked" not in given
            if not unset:
                self.last[given["name"]] = given.get("value", "")
        elif self.last is not None and tag == "select":
            self.select = given["name"]
        elif self.last is not None and tag == "option" and "selected" in given:
            self.last[self.select] = given.get("value", "")


class Page:
    def __init__(self, response, url):
        self.response, self.url = response, url
        self.status = response.status_code
        self.html = (response.getvalue() if response.streaming else response.content).decode()
        self.location = response.headers.get("Location", "")

    @property
    def heading(self):
        found = re.search(r"<h1>(.*?)</h1>", self.html, re.DOTALL)
        assert found, (self.status, self.location, self.html)
        return unescape(found[1])

    @property
    def text(self):
        body = self.html.partition("<body>")[2]
        return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))).strip()

    @property
    def alert(self):
        found = re.search(r'<p role="alert"[^>]*>(.*?)</p>', self.html, re.DOTALL)
        return unescape(found[1]).strip() if found else ""

    @property
    def notice(self):
        found = re.search(r'<p role="status" class="note[^"]*">(.*?)</p>', self.html, re.DOTALL)
        return unescape(found[1]).strip() if found else ""

    @property
    def errors(self):
        """The errors beside the fields, by name."""
        found = re.findall(r'<p class="error" id="(\w+)-error">(.*?)</p>', self.html)
        return {name: unescape(text) for name, text in found}

    @property
    def forms(self):
        return _Forms(self.html).forms

    @property
    def passkey_form(self):
        (form,) = _Forms(self.html).hidden
        return form

    @property
    def links(self):
        return [unescape(url) for url in re.findall(r'href="([^"]+)"', self.html)]

    def link(self, text):
        found = re.search(rf'<a [^>]*?href="([^"]+)"[^>]*>{re.escape(text)}</a>', self.html)
        assert found, (text, self.html)
        return unescape(found[1])


def set_up_of(page):
    """The picture, the key and the backup codes that a page shows."""
    picture = re.search(r'<img class="qr" src="([^"]+)"', page.html)
    codes = re.findall(r"<code>(.*?)</code>", page.html)
    assert len(codes) == 11
    return picture[1], codes


class Person:
    def __init__(self):
        self.client = Client(enforce_csrf_checks=True)

    def open(self, url, **headers):
        """The page at the end of the redirects, as a browser shows it."""
        for _ in range(5):
            page = self.visit(url, **headers)
            if page.status not in (302, 303):
                return page
            url = urljoin(page.url, page.location)
        raise AssertionError(f"too many redirects: {url}")

    def visit(self, url, **headers):
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        with TestCase.captureOnCommitCallbacks(execute=True):
            return Page(self.client.get(path, headers={"Accept": ACCEPT, **headers}), path)

    def follow(self, page, label):
        """The page of a link that leads to another part of the same list."""
        return self.open(page.url.partition("?")[0] + page.link(label))

    def send(self, page, form=-1, *, headers=None, **typed):
        """Fill in the last form of the page and press its button; the next page. `form` is the
        number of another one, or `PASSKEY` for that which the script submits."""
        sent = self.post(page, form, headers=headers, **typed)
        if sent.status in (302, 303):
            return self.open(urljoin(sent.url, sent.location))
        return sent

    def post(self, page, form=-1, *, headers=None, **typed):
        """The same, but the response itself. A field that is None is left out."""
        action, fields = page.passkey_form if form == PASSKEY else page.forms[form]
        return self._send(urljoin(page.url, action), {**fields, **typed}, headers)

    def _send(self, url, fields, headers=None):
        body = {name: value for name, value in fields.items() if value is not None}
        given = {"Accept": ACCEPT, "Origin": "http://testserver", **(headers or {})}
        with TestCase.captureOnCommitCallbacks(execute=True):
            response = self.client.post(
                url, urlencode(body, doseq=True), content_type=FORM, headers=given
            )
        return Page(response, url)

    @property
    def name(self):
        """Whom Django's own tools see."""
        return self.visit("/whoami").html

    def sign_in(self, name, password, **more):
        page = self.open("/auth/login")
        return self.send(page, identifier=name, password=password, **more)

    def enter(self, name, password, **more):
        """The cookies that `sign_in` leaves, with one request in place of three: the form is not
        opened before it is sent, nor the page after it."""
        token = "x" * CSRF_SECRET_LENGTH
        self.client.cookies["csrftoken"] = token
        fields = {"csrfmiddlewaretoken": token, "identifier": name, "password": password, **more}
        sent = self._send("/auth/login", fields)
        assert sent.status == 303, (sent.status, sent.html)
