"""A refresh token cannot be forged, changed or encoded differently, and has no other use."""

import base64
import uuid

import pytest

from authservice.core.models import Session
from authservice.core.tokens import signing as refresh_tokens

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_REFRESH_TOKEN")


@pytest.fixture
def tokens(api):
    return api.sign_up()


@pytest.fixture
def genuine(tokens):
    return tokens["refresh_token"]


def refresh(api, token):
    return api.post("refresh", refresh_token=token)


def octets(token):
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))


def encoded(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def test_refresh_token_has_53_octets_and_71_characters(genuine):
    assert (len(octets(genuine)), len(genuine)) == (53, 71)


def test_refresh_token_with_any_changed_octet_is_refused_and_revokes_nothing(
    api, genuine, configure
):
    configure(THROTTLE={"ENABLED": False})
    raw = octets(genuine)
    forged = [raw[:n] + bytes([raw[n] ^ 1]) + raw[n + 1 :] for n in range(len(raw))]

    assert {refresh(api, encoded(one)).error for one in forged} == {REFUSED}
    assert refresh(api, genuine).status == 200


def test_refresh_token_with_any_changed_character_is_refused(api, genuine, configure):
    configure(THROTTLE={"ENABLED": False})
    forged = [
        genuine[:n] + ("A" if genuine[n] != "A" else "B") + genuine[n + 1 :]
        for n in range(len(genuine))
    ]

    assert {refresh(api, one).error for one in forged} == {REFUSED}


@pytest.mark.parametrize("length", [0, 1, 21, 52])
def test_refresh_token_cut_short_is_refused(api, genuine, length):
    raw = octets(genuine)[:length]

    assert refresh(api, encoded(raw) or "A").error == REFUSED


def test_refresh_token_with_an_added_octet_is_refused(api, genuine):
    assert refresh(api, encoded(octets(genuine) + b"\0")).error == REFUSED


def test_refresh_token_in_any_other_encoding_is_refused(api, genuine):
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    lasts = [genuine[:-1] + c for c in alphabet]
    same = [one for one in lasts if one != genuine and octets(one) == octets(genuine)]
    others = [*same, genuine + "=", genuine + "==", genuine + "A===", genuine + "."]
    assert len(same) == 3

    assert {refresh(api, one).error for one in others} == {REFUSED}
    assert refresh(api, genuine).status == 200


def test_refresh_token_in_the_other_base64_alphabet_is_refused(api):
    configured = (api.sign_up(f"ann{n}@example.com")["refresh_token"] for n in range(20))
    genuine = next(one for one in configured if "-" in one or "_" in one)

    assert refresh(api, genuine.replace("-", "+").replace("_", "/")).error == REFUSED


def test_refresh_token_with_a_counter_ahead_is_refused_and_revokes_nothing(api, genuine):
    row = Session.objects.get()
    ahead = refresh_tokens.derive_refresh_token(row.pk, row.counter + 1, row.seed)

    assert refresh(api, ahead).error == REFUSED
    assert refresh(api, genuine).status == 200


def test_refresh_token_after_a_restored_backup_revokes_no_session(api, genuine):
    later = refresh(api, genuine).data["refresh_token"]
    Session.objects.update(counter=0)

    assert refresh(api, later).error == REFUSED
    assert refresh(api, genuine).status == 200


def test_refresh_token_forged_with_the_key_but_not_the_seed_is_refused(api, genuine):
    row = Session.objects.get()
    forged = refresh_tokens.derive_refresh_token(row.pk, row.counter, "00" * 16)

    assert refresh(api, forged).error == REFUSED


def test_refresh_token_of_an_unknown_session_is_refused(api, genuine):
    forged = refresh_tokens.derive_refresh_token(uuid.uuid4(), 0, "00" * 16)

    assert refresh(api, forged).error == REFUSED


def test_refresh_token_with_the_session_id_of_another_session_is_refused(api, genuine):
    other = octets(api.log_in()["refresh_token"])
    mixed = other[:21] + octets(genuine)[21:]

    assert refresh(api, encoded(mixed)).error == REFUSED


def test_refresh_with_an_access_token_is_refused(api, tokens, configure):
    answer = refresh(api, tokens["access_token"])

    assert answer.status in (400, 401)
    assert answer.code in ("VALIDATION_ERROR", "INVALID_REFRESH_TOKEN")


def test_refresh_token_is_refused_as_bearer_token(api, genuine):
    assert api.get("me", token=genuine).error == (401, "INVALID_TOKEN")


def test_refresh_with_a_device_token_is_refused(api, tokens):
    answer = api.post("login", email="ann@example.com", password="plum tart 42 windows")

    assert refresh(api, answer.headers["X-Device-Token"]).error == REFUSED


def test_refresh_token_is_not_stored(genuine):
    row = Session.objects.values().get()
    stored = " ".join(str(value) for value in row.values())
    mac = octets(genuine)[21:]

    assert genuine not in stored
    assert mac.hex() not in stored
    assert encoded(mac) not in stored
