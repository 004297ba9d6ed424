"""GET /.well-known/jwks.json."""

import pytest

PATH = ".well-known/jwks.json"


def test_jwks_is_a_key_set_outside_the_envelope(api):
    answer = api.get(PATH)

    assert answer.status == 200
    assert answer.body == {"keys": []}


def test_jwks_omits_derived_symmetric_key(api):
    assert api.get(PATH).body["keys"] == []


def test_jwks_may_be_cached_for_five_minutes(api):
    assert api.get(PATH).headers["Cache-Control"] == "public, max-age=300"


@pytest.mark.django_db
def test_jwks_are_one_copy_in_a_cache_for_all_callers(api):
    token = api.sign_up()["access_token"]
    for given in ({}, {"Authorization": f"Bearer {token}"}, {"Sec-Purpose": "prefetch"}):
        varies = api.get(PATH, headers=given).headers.get("Vary", "").lower()
        # A middleware of the project may add the language.
        assert {name.strip() for name in varies.split(",")} <= {"", "accept-language"}


def test_jwks_content_type_is_json(api):
    assert api.get(PATH).headers["Content-Type"] == "application/json"
