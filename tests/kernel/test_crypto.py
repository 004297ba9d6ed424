"""Digests, signatures and seals: apart by purpose, and alive while a fallback opens them."""

import hashlib
import hmac

import pytest

from authservice.kernel import crypto

NEW = "another secret of the tests, long enough to be a key"


@pytest.fixture
def rotate(settings):
    def rotate(*, keep):
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY] if keep else []
        settings.SECRET_KEY = NEW

    return rotate


def test_a_key_is_derived_from_secret_and_purpose(settings):
    expected = hmac.digest(settings.SECRET_KEY.encode(), b"authservice:1:here", "sha256")

    assert crypto.keys("here") == (expected,)


def test_purposes_have_keys_of_their_own():
    assert crypto.keys("here") != crypto.keys("there")


def test_a_secret_may_be_bytes(settings):
    before = crypto.keys("here")
    settings.SECRET_KEY = settings.SECRET_KEY.encode()

    assert crypto.keys("here") == before


def test_fallbacks_come_after_the_present_key(settings, rotate):
    (old,) = crypto.keys("here")
    rotate(keep=True)

    assert crypto.keys("here")[1:] == (old,)


class TestDigests:
    def test_a_digest_is_64_hex_characters_and_keyed(self):
        digest = crypto.digest("here", "plum")

        assert len(digest) == 64
        assert digest != hashlib.sha256(b"plum").hexdigest()

    def test_a_digest_matches_its_text_alone(self):
        stored = crypto.digest("here", "plum")

        assert crypto.matches("here", "plum", stored)
        assert not crypto.matches("here", "plums", stored)

    def test_a_digest_of_one_purpose_matches_in_no_other(self):
        assert not crypto.matches("there", "plum", crypto.digest("here", "plum"))

    def test_an_old_digest_matches_while_its_key_is_a_fallback(self, rotate):
        stored = crypto.digest("here", "plum")
        rotate(keep=True)

        assert crypto.matches("here", "plum", stored)
        assert stored in crypto.digests("here", "plum")

    def test_an_old_digest_matches_no_more_once_it_is_dropped(self, rotate):
        stored = crypto.digest("here", "plum")
        rotate(keep=False)

        assert not crypto.matches("here", "plum", stored)

    @pytest.mark.parametrize("stored", ["", "plum", "\u00e9"])
    def test_what_is_no_digest_matches_nothing(self, stored):
        assert not crypto.matches("here", "plum", stored)


class TestSigning:
    @pytest.mark.parametrize("text", ["", "plum", "a.b", "\u00e9\u4e16", "x" * 10_000])
    def test_what_is_signed_is_read_again(self, text):
        assert crypto.unsign("here", crypto.sign("here", text)) == text

    def test_another_purpose_does_not_read_it(self):
        with pytest.raises(crypto.Unreadable):
            crypto.unsign("there", crypto.sign("here", "plum"))

    def test_a_change_of_any_character_is_refused(self):
        signed = crypto.sign("here", "plum tart")

        for n, character in enumerate(signed):
            other = signed[:n] + ("A" if character != "A" else "B") + signed[n + 1 :]
            with pytest.raises(crypto.Unreadable):
                crypto.unsign("here", other)

    @pytest.mark.parametrize("text", ["", ".", "a", "a.b", "..", "\u00e9", "=.="])
    def test_what_was_never_signed_is_refused(self, text):
        with pytest.raises(crypto.Unreadable):
            crypto.unsign("here", text)

    def test_it_is_read_while_its_key_is_a_fallback(self, rotate):
        signed = crypto.sign("here", "plum")
        rotate(keep=True)

        assert crypto.unsign("here", signed) == "plum"

    def test_it_is_refused_once_its_key_is_dropped(self, rotate):
        signed = crypto.sign("here", "plum")
        rotate(keep=False)

        with pytest.raises(crypto.Unreadable):
            crypto.unsign("here", signed)


class TestSealing:
    @pytest.mark.parametrize("text", ["", "plum", "\u00e9\u4e16", "x" * 10_000])
    def test_what_is_sealed_is_read_again(self, text):
        assert crypto.unseal("here", crypto.seal("here", text)) == text

    def test_nothing_of_it_shows(self):
        assert b"plum" not in crypto.unb64(crypto.seal("here", "plum"))

    def test_no_seal_is_like_another(self):
        assert crypto.seal("here", "plum") != crypto.seal("here", "plum")

    def test_another_purpose_does_not_open_it(self):
        with pytest.raises(crypto.Unreadable):
            crypto.unseal("there", crypto.seal("here", "plum"))

    def test_the_purpose_is_authenticated_beside_the_key(self, monkeypatch):
        sealed = crypto.seal("here", "plum")
        same = crypto.keys("here")
        monkeypatch.setattr(crypto, "keys", lambda _: same)

        with pytest.raises(crypto.Unreadable):
            crypto.unseal("there", sealed)

    def test_a_change_of_any_octet_is_refused(self):
        raw = crypto.unb64(crypto.seal("here", "plum"))

        for n in range(len(raw)):
            with pytest.raises(crypto.Unreadable):
                crypto.unseal("here", crypto.b64(raw[:n] + bytes([raw[n] ^ 1]) + raw[n + 1 :]))

    @pytest.mark.parametrize("length", [0, 1, 11, 12, 13, 27, 28])
    def test_a_shorter_one_is_refused(self, length):
        raw = crypto.unb64(crypto.seal("here", "plum"))

        with pytest.raises(crypto.Unreadable):
            crypto.unseal("here", crypto.b64(raw[:length]))

    @pytest.mark.parametrize("text", ["", "plum", "\u00e9", "a b", "===="])
    def test_what_was_never_sealed_is_refused(self, text):
        with pytest.raises(crypto.Unreadable):
            crypto.unseal("here", text)

    def test_it_opens_while_its_key_is_a_fallback(self, rotate):
        sealed = crypto.seal("here", "plum")
        rotate(keep=True)

        assert crypto.unseal("here", sealed) == "plum"

    def test_it_is_refused_once_its_key_is_dropped(self, rotate):
        sealed = crypto.seal("here", "plum")
        rotate(keep=False)

        with pytest.raises(crypto.Unreadable):
            crypto.unseal("here", sealed)


@pytest.mark.parametrize("text", ["AA==", "AB", "A", "A A", "AA\n", "+/+/", "\u00e9\u00e9", "AA."])
def test_base64_has_one_spelling(text):
    with pytest.raises(crypto.Unreadable):
        crypto.unb64(text)


@pytest.mark.parametrize("raw", [b"", b"\0", b"\xff\xfe\xfd", bytes(range(256))])
def test_base64_round_trips(raw):
    assert crypto.unb64(crypto.b64(raw)) == raw


def test_a_fingerprint_is_plain_sha_256():
    assert crypto.fingerprint("plum") == hashlib.sha256(b"plum").hexdigest()
