"""No secret is stored anywhere in any encoding: not in a row, the cache, a log line or a job."""

from __future__ import annotations

import base64
import hashlib
import logging
import pickle
import re
from urllib.parse import quote

import pytest
from django.core.cache import cache
from django.db import connection

from authservice.core.messages import kinds
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, wrong
from tests.support.messenger.post import query

pytestmark = pytest.mark.django_db

THIRD = "elm harbour 88 candles"
WRONG = "oak paddle 31 curtains"


class Journey:
    """Runs all flows one after another and collects their secrets."""

    def __init__(self, api, flows):
        self.api, self.flows, self.post = api, flows, flows.post
        self.secrets = {PASSWORD, NEW, THIRD, WRONG}
        self.codes = set()

    def run(self):
        body = {"email": ANN, "password": PASSWORD, "phone_number": PHONE}
        signed_up = self._keep(self.api.post("signup", **body))
        # With the session, so that the number of the sign-up may reset the password at once.
        session = {"Authorization": f"Bearer {signed_up['access_token']}"}
        verification = self._mailed(kinds.VERIFY_EMAIL)
        self.flows.click(verification, Accept="application/json", **session)
        self._verify_phone()
        refreshed = self._keep(self.api.post("refresh", refresh_token=signed_up["refresh_token"]))
        self.api.post("login", email=ANN, password=WRONG)
        self._change_password(refreshed["access_token"])
        self.api.post("forgot-password", email=ANN)
        used = self._mailed(kinds.RESET_BY_LINK)
        self._mailed(kinds.RESET_BY_LINK)  # never used
        self.flows.reset(used, new_password=THIRD)
        self._reset_by_code()
        self._keep(self.api.post("login", email=ANN, password=PASSWORD))

    def _verify_phone(self):
        self.api.post("send-verification-phone", phone=PHONE)
        code = self._texted(kinds.VERIFY_PHONE)
        self.flows.verify_phone(wrong(code))
        assert self.flows.verify_phone(code).status == 200

    def _change_password(self, token):
        for old in (WRONG, PASSWORD):
            body = {"old_password": old, "new_password": NEW}
            answer = self.api.request("PUT", "change-password", body, token=token)
        assert answer.status == 200

    def _reset_by_code(self):
        self.api.post("forgot-password", phone=PHONE)
        code = self._texted(kinds.RESET_BY_CODE)
        assert self.flows.reset_by_code(code, new_password=PASSWORD).status == 200
        self.api.post("forgot-password", phone=PHONE)
        self._texted(kinds.RESET_BY_CODE)  # never used

    def _keep(self, answer):
        assert answer.status in (200, 201), answer.body
        self.secrets |= {answer.data["access_token"], answer.data["refresh_token"]}
        if "X-Device-Token" in answer.headers:
            self.secrets.add(answer.headers["X-Device-Token"])
        return answer.data

    def _mailed(self, kind):
        link = self.post.link(kind)
        token = query(link)["token"]
        self.secrets |= {link, token}
        return token

    def _texted(self, kind):
        code = self.post.code(kind)
        self.codes.add(code)
        return code


@pytest.fixture
def log_lines(caplog):
    """Every line that can be logged."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "authservice")
    form = logging.Formatter("%(name)s %(message)s")
    return lambda: [form.format(record) for record in caplog.records]


@pytest.fixture
def journey(clock, api, flows, log_lines):
    # The clock is frozen, because a fraction of a second could happen to equal a code.
    journey = Journey(api, flows)
    journey.run()
    return journey


@pytest.fixture
def places(journey, log_lines, post):
    """Everything that is stored or logged, by its place."""
    return {
        **dict(_rows()),
        "cache": [str(key) + str(pickle.loads(raw)) for key, raw in cache._cache.items()],
        "log": log_lines(),
        "jobs": [repr(job) for job in post.jobs],
    }


def _rows():
    """The values of each column of each table, as text."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            names = [column[0] for column in cursor.description]
            for name, values in zip(names, zip(*cursor.fetchall(), strict=True), strict=False):
                yield f"{table}.{name}", [str(value) for value in values]


def encodings(secret):
    """Encodings of a secret from which an attacker can recover it."""
    encoded = secret.encode()
    digests = [hashlib.new(name, encoded) for name in ("md5", "sha1", "sha224", "sha256", "sha512")]
    return {
        secret,
        secret[::-1],
        quote(secret, safe=""),
        encoded.hex(),
        encoded.hex().upper(),
        base64.b64encode(encoded).decode().rstrip("="),
        base64.urlsafe_b64encode(encoded).decode().rstrip("="),
        # An attacker recovers a short secret from its plain digest by trying all values.
        *(digest.hexdigest() for digest in digests),
        *(base64.b64encode(digest.digest()).decode().rstrip("=") for digest in digests),
    }


def test_journey_leaves_values_in_every_place(places):
    assert {"log", "jobs", "cache", "authservice_core_onetimetoken.digest"} <= {
        name for name, values in places.items() if values
    }


def test_journey_has_every_kind_of_secret(journey):
    assert len(journey.secrets) >= 4 + 3 * 2 + 3 * 2
    assert len(journey.codes) >= 2


def test_tokens_links_and_passwords_are_stored_nowhere(journey, places):
    found = [
        (where, encoding)
        for secret in journey.secrets
        for encoding in encodings(secret)
        for where, values in places.items()
        for value in values
        if encoding in value
    ]

    assert found == []


def test_codes_are_stored_nowhere_as_separate_words(journey, places):
    found = [
        (where, code)
        for code in journey.codes
        for where, values in places.items()
        for value in values
        if re.search(rf"(?<![0-9A-Za-z]){code}(?![0-9A-Za-z])", value)
    ]

    assert found == []


def test_plain_digests_of_codes_are_stored_nowhere(journey, places):
    found = [
        (where, code)
        for code in journey.codes
        for text in (code, f"{PHONE}{code}", f"{PHONE}|{code}", f"{PHONE}:{code}")
        for encoding in encodings(text) - {code, code[::-1]}
        for where, values in places.items()
        for value in values
        if encoding in value
    ]

    assert found == []


def test_stored_values_are_refused_as_tokens(journey, places, api, flows, no_floods):
    """A copy of the tables alone neither resets a password nor refreshes a session."""
    flows.reset_token()
    stored = {value for values in dict(_rows()).values() for value in values if value}

    assert {flows.reset(text[:512]).status for text in stored} == {400}
    assert {api.post("refresh", refresh_token=text[:512]).status for text in stored} <= {400, 401}
