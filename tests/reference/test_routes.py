"""The page of the API has each route once, in the tables of the modules."""

from collections import Counter

import yaml

from tests.hosts.runs import ROOT
from tests.reference.api_routes import listed

METHODS = {"get", "post", "put", "patch", "delete"}


def test_page_of_the_api_has_each_route_once():
    document = yaml.load((ROOT / "docs/openapi.yaml").read_text(), Loader=yaml.CSafeLoader)
    described = Counter(
        f"{method.upper()} {path}"
        for path, item in document["paths"].items()
        for method in METHODS & item.keys()
    )

    assert Counter(listed()) == described
