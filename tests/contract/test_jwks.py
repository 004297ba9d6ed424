"""GET /.well-known/jwks.json."""

PATH = ".well-known/jwks.json"


def test_it_is_a_key_set_outside_the_envelope(api):
    answer = api.get(PATH)

    assert answer.status == 200
    assert answer.body == {"keys": []}


def test_a_derived_key_is_symmetric_and_never_published(api):
    assert api.get(PATH).body["keys"] == []


def test_it_may_be_cached_for_five_minutes(api):
    assert api.get(PATH).headers["Cache-Control"] == "public, max-age=300"


def test_it_is_json(api):
    assert api.get(PATH).headers["Content-Type"] == "application/json"
