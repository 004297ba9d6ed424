"""Digests, signatures and encryption: separate by purpose, and valid while a fallback key is."""

import hashlib
import hmac

import pytest
from django.core.signing import BadSignature

from authservice.kernel import secret

NEW = "another secret of the tests, long enough to be a key"


@pytest.fixture
def rotate(settings):
    def rotate(*, keep):
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY] if keep else []
        settings.SECRET_KEY = NEW

    return rotate


def test_key_is_derived_from_secret_key_and_purpose(settings):
    expected = hmac.digest(settings.SECRET_KEY.encode(), b"authservice:1:here", "sha256")

    assert secret.keys("here") == (expected,)


def test_keys_of_two_purposes_differ():
    assert secret.keys("here") != secret.keys("there")


def test_secret_key_may_be_bytes(settings):
    before = secret.keys("here")
    settings.SECRET_KEY = settings.SECRET_KEY.encode()

    assert secret.keys("here") == before


def test_fallback_keys_come_after_the_current_key(settings, rotate):
    (old,) = secret.keys("here")
    rotate(keep=True)

    assert secret.keys("here")[1:] == (old,)


class TestDigests:
    def test_digest_is_64_hex_characters_and_keyed(self):
        digest = secret.digest("here", "plum")

        assert len(digest) == 64
        assert digest != hashlib.sha256(b"plum").hexdigest()

    def test_digest_matches_only_its_text(self):
        stored = secret.digest("here", "plum")

        assert secret.matches("here", "plum", stored)
        assert not secret.matches("here", "plums", stored)

    def test_digest_of_one_purpose_does_not_match_for_another(self):
        assert not secret.matches("there", "plum", secret.digest("here", "plum"))

    def test_digest_matches_while_its_key_is_a_fallback(self, rotate):
        stored = secret.digest("here", "plum")
        rotate(keep=True)

        assert secret.matches("here", "plum", stored)
        assert stored in secret.digests("here", "plum")

    def test_digest_does_not_match_after_its_key_is_removed(self, rotate):
        stored = secret.digest("here", "plum")
        rotate(keep=False)

        assert not secret.matches("here", "plum", stored)

    @pytest.mark.parametrize("stored", ["", "plum", "\u00e9"])
    def test_digest_of_an_invalid_form_matches_nothing(self, stored):
        assert not secret.matches("here", "plum", stored)


@pytest.mark.parametrize("signer", [secret.signer, secret.timestamp_signer])
class TestSigning:
    def test_signed_text_is_read_back(self, signer):
        assert signer("here").unsign(signer("here").sign("plum")) == "plum"

    def test_signed_text_is_refused_for_another_purpose(self, signer):
        with pytest.raises(BadSignature):
            signer("there").unsign(signer("here").sign("plum"))

    def test_signed_text_that_was_changed_is_refused(self, signer):
        with pytest.raises(BadSignature):
            signer("here").unsign(signer("here").sign("plum").replace("plum", "pear"))

    def test_signed_text_is_read_while_its_key_is_a_fallback(self, signer, rotate):
        signed = signer("here").sign("plum")
        rotate(keep=True)

        assert signer("here").unsign(signed) == "plum"

    def test_signed_text_is_refused_after_its_key_is_removed(self, signer, rotate):
        signed = signer("here").sign("plum")
        rotate(keep=False)

        with pytest.raises(BadSignature):
            signer("here").unsign(signed)


class TestSealing:
    @pytest.mark.parametrize("text", ["", "plum", "\u00e9\u4e16", "x" * 10_000])
    def test_sealed_text_is_read_back(self, text):
        assert secret.unseal("here", secret.seal("here", text)) == text

    def test_sealed_text_is_not_visible(self):
        assert b"plum" not in secret.unb64(secret.seal("here", "plum"))

    def test_sealed_text_differs_each_time(self):
        assert secret.seal("here", "plum") != secret.seal("here", "plum")

    def test_sealed_text_is_refused_for_another_purpose(self):
        with pytest.raises(secret.Unreadable):
            secret.unseal("there", secret.seal("here", "plum"))

    def test_sealed_text_authenticates_its_purpose_independently_of_the_key(self, monkeypatch):
        sealed = secret.seal("here", "plum")
        same = secret.keys("here")
        monkeypatch.setattr(secret, "keys", lambda _: same)

        with pytest.raises(secret.Unreadable):
            secret.unseal("there", sealed)

    def test_sealed_text_with_any_changed_octet_is_refused(self):
        raw = secret.unb64(secret.seal("here", "plum"))

        for n in range(len(raw)):
            with pytest.raises(secret.Unreadable):
                secret.unseal("here", secret.b64(raw[:n] + bytes([raw[n] ^ 1]) + raw[n + 1 :]))

    @pytest.mark.parametrize("length", [0, 1, 11, 12, 13, 27, 28])
    def test_sealed_text_cut_short_is_refused(self, length):
        raw = secret.unb64(secret.seal("here", "plum"))

        with pytest.raises(secret.Unreadable):
            secret.unseal("here", secret.b64(raw[:length]))

    @pytest.mark.parametrize("text", ["", "plum", "\u00e9", "a b", "===="])
    def test_text_that_was_never_sealed_is_refused(self, text):
        with pytest.raises(secret.Unreadable):
            secret.unseal("here", text)

    def test_sealed_text_is_read_while_its_key_is_a_fallback(self, rotate):
        sealed = secret.seal("here", "plum")
        rotate(keep=True)

        assert secret.unseal("here", sealed) == "plum"

    def test_sealed_text_is_refused_after_its_key_is_removed(self, rotate):
        sealed = secret.seal("here", "plum")
        rotate(keep=False)

        with pytest.raises(secret.Unreadable):
            secret.unseal("here", sealed)


@pytest.mark.parametrize("text", ["AA==", "AB", "A", "A A", "AA\n", "+/+/", "\u00e9\u00e9", "AA."])
def test_base64_accepts_only_the_canonical_encoding(text):
    with pytest.raises(secret.Unreadable):
        secret.unb64(text)


@pytest.mark.parametrize("raw", [b"", b"\0", b"\xff\xfe\xfd", bytes(range(256))])
def test_base64_decodes_what_it_encodes(raw):
    assert secret.unb64(secret.b64(raw)) == raw


def test_fingerprint_is_plain_sha_256():
    assert secret.fingerprint("plum") == hashlib.sha256(b"plum").hexdigest()
