"""The description and the files of its pages are compressed, and have a limit of their own."""

import gzip

import pytest

from authservice.kernel import throttling
from tests.openapi.test_access import ASSETS, DESCRIPTIONS

pytestmark = pytest.mark.django_db

LARGE = [*DESCRIPTIONS, *ASSETS, "docs/swagger-ui-bundle.js"]


def fetch(api, path, encoding):
    headers = {"Accept-Encoding": encoding} if encoding else {}
    return api.get(path, headers=headers).response


@pytest.mark.parametrize("path", LARGE)
@pytest.mark.parametrize("encoding", ["gzip", "br, gzip;q=0.5", "deflate, gzip"])
def test_large_file_is_compressed_for_clients_that_accept_it(api, path, encoding):
    plain, packed = fetch(api, path, ""), fetch(api, path, encoding)

    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert packed.headers["Content-Type"] == plain.headers["Content-Type"]
    if len(plain.content) > 10_000:
        assert len(packed.content) < len(plain.content) / 3


@pytest.mark.parametrize("path", LARGE)
@pytest.mark.parametrize("encoding", ["", "br", "identity", "gzip;q=0", "gzip; q=0.0, br"])
def test_large_file_is_sent_as_it_is_to_other_clients(api, path, encoding):
    plain = fetch(api, path, encoding)

    assert "Content-Encoding" not in plain.headers
    assert "Accept-Encoding" in plain.headers["Vary"]


def test_compressed_description_changes_with_the_settings(api, configure):
    before = fetch(api, "openapi.json", "gzip").content
    configure(OPENAPI={"TITLE": "Other"})

    after = fetch(api, "openapi.json", "gzip").content

    assert b'"title": "Other"' in gzip.decompress(after)
    assert after != before


def test_large_files_share_a_limit_below_the_general_one(api, clock, configure):
    configure(THROTTLE={"RATES": {"description": "5/d"}})

    statuses = [api.get(path).status for path in LARGE]

    assert statuses == [200] * 5 + [429]
    assert api.get("docs").status == 200
    assert throttling.parse(throttling.RATES["description"]).limit == 120
