"""GET /.well-known/jwks.json."""

PATH = ".well-known/jwks.json"


def test_jwks_is_a_key_set_outside_the_envelope(api):
    answer = api.get(PATH)

    assert answer.status == 200
    assert answer.body == {"keys": []}


def test_jwks_omits_derived_symmetric_key(api):
    assert api.get(PATH).body["keys"] == []


def test_jwks_may_be_cached_for_five_minutes(api):
    assert api.get(PATH).headers["Cache-Control"] == "public, max-age=300"


def test_jwks_content_type_is_json(api):
    assert api.get(PATH).headers["Content-Type"] == "application/json"
