"""Every body of a request and every JSON response has an example that its schema allows. In a host
with every module, `inside` posts the examples."""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema_rs import Draft202012Validator

from tests.hosts.runs import holds
from tests.openapi.whole import FILE

HERE = Path(__file__).parent / "inside"
PLACEHOLDER = "text"


@pytest.fixture(scope="module")
def document():
    return yaml.load(FILE.read_text(), Loader=yaml.CSafeLoader)


def contents(document):
    """The media types of all requests and successful JSON responses."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            name = f"{method} {path}"
            for content in operation.get("requestBody", {}).get("content", {}).values():
                yield name, content
            for response in operation["responses"].values():
                if "application/json" in response.get("content", {}):
                    yield name, response["content"]["application/json"]


def examples(content):
    several = content.get("examples", {}).values()
    return [content["example"]] if "example" in content else [one["value"] for one in several]


def test_every_body_and_response_has_an_example(document):
    found = [(name, examples(content)) for name, content in contents(document)]

    assert len(found) > 100
    assert [name for name, given in found if not given] == []


def test_examples_match_their_schemas(document):
    for name, content in contents(document):
        schema = {**content["schema"], "components": document["components"]}
        validator = Draft202012Validator(schema, validate_formats=True)
        for example in examples(content):
            wrong = next(iter(validator.iter_errors(example)), None)
            assert wrong is None, f"{name}: {example}: {wrong}"


def test_examples_have_a_value_for_each_property(document):
    """A new property needs an example in `authservice/openapi/examples.py`."""
    given = [example for _, content in contents(document) for example in examples(content)]

    assert json.dumps(PLACEHOLDER) not in json.dumps(given)


@pytest.mark.slow
@pytest.mark.once
def test_service_accepts_the_example_of_each_body():
    holds("--ds=tests.audit.settings", str(HERE))
