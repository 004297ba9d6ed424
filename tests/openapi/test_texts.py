"""The texts of the operations: complete, and true where the description itself can tell."""

import re

import pytest
import yaml

from tests.openapi.whole import FILE

CODE = re.compile(r"`([A-Z_]{8,})`")
PATH = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`]*)`")
# Codes of other requests, after which a client sends this one.
OF_OTHERS = {
    ("refreshTokens", "TOKEN_EXPIRED"),
    ("refreshTokens", "INVALID_TOKEN"),
    ("refreshTokens", "UNAUTHORIZED"),
    ("getCsrfToken", "INVALID_CSRF"),
    ("stepUp", "STEP_UP_REQUIRED"),
}


@pytest.fixture(scope="module")
def document():
    """The description of all modules."""
    return yaml.load(FILE.read_text(), Loader=yaml.CSafeLoader)


@pytest.fixture(scope="module")
def operations(document):
    return [
        operation
        for item in document["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    ]


def codes(operation, document):
    """The error codes of an operation."""
    name = operation["operationId"]
    return set(document["components"]["schemas"][f"{name[0].upper()}{name[1:]}ErrorCode"]["enum"])


def test_each_operation_has_a_description(operations):
    assert [one["operationId"] for one in operations if not one.get("description")] == []


def test_a_description_says_more_than_the_summary(operations):
    short = [
        one["operationId"]
        for one in operations
        if len(one["description"].split()) < 2 * len(one["summary"].split())
    ]

    assert short == []


def test_error_codes_of_a_description_are_responses_of_the_operation(operations, document):
    wrong = [
        (one["operationId"], code)
        for one in operations
        for code in set(CODE.findall(one["description"]))
        if code not in codes(one, document)
    ]

    assert sorted(wrong) == sorted(OF_OTHERS)


def test_requests_that_a_text_names_exist(operations, document):
    wrong = [
        (one["operationId"], method, path)
        for one in operations
        for method, path in PATH.findall(one["description"])
        if method.lower() not in document["paths"].get(path, {})
    ]

    assert wrong == []


def test_each_successful_response_says_what_it_means(operations):
    """Types such as the one with a message only cannot say it."""
    vague = [
        (one["operationId"], status)
        for one in operations
        for status, response in one["responses"].items()
        if response.get("description") in ("A message for the user.", "Success.", "")
    ]

    assert vague == []
