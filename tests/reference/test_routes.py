"""The page of the API has each route once, in the tables of the modules."""

import re
from collections import Counter

import yaml

from tests.hosts.runs import ROOT

# A row: the methods, then the paths, which may continue on a second line.
ROW = re.compile(
    r"^   \* - (?P<methods>[A-Z, ]+)\n     - (?P<paths>``/.*(?:\n       ``/.*)*)$", re.MULTILINE
)
PATH = re.compile(r"``(/[^`]*)``")
METHODS = {"get", "post", "put", "patch", "delete"}


def listed():
    page = (ROOT / "docs" / "api.rst").read_text()
    return Counter(
        f"{method} {path}"
        for row in ROW.finditer(page)
        for method in row["methods"].split(", ")
        for path in PATH.findall(row["paths"])
    )


def test_page_of_the_api_has_each_route_once():
    document = yaml.load((ROOT / "docs/openapi.yaml").read_text(), Loader=yaml.CSafeLoader)
    described = Counter(
        f"{method.upper()} {path}"
        for path, item in document["paths"].items()
        for method in METHODS & item.keys()
    )

    assert listed() == described
