"""No label of a metric says who the user is."""

import pytest

from tests.metrics.conftest import points, reading
from tests.personal_data import story

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def reader():
    """The meter provider, which counts from the beginning of the story."""
    return reading()


@pytest.fixture(scope="module")
def module_ann(reader, module_ann):
    return module_ann


def test_labels_have_nothing_of_the_user(reader, ann):
    found = [(name, dict(point.attributes)) for name, point in points(reader)]

    assert {name for name, _ in found} >= {
        *("authservice.logins", "authservice.second_factors", "authservice.signups"),
        "authservice.password_hash.wait",
    }
    labels = [str(value) for _, attributes in found for value in attributes.values()]
    assert [label for label in labels if any(text in label for text in story.VALUES)] == []
    # The id of a user is a number here.
    assert not {ann.user_id, "bob@example.com"} & set(labels)
