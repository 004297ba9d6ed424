"""What a later version of Django removes is an error in the suite, as every warning is."""

import warnings

import pytest
from django.utils import deprecation

REMOVED = [
    getattr(deprecation, name) for name in dir(deprecation) if name.startswith("RemovedInDjango")
]


def test_django_announces_removals():
    assert REMOVED


@pytest.mark.parametrize("category", REMOVED, ids=lambda category: category.__name__)
def test_use_of_what_django_removes_fails(category):
    with pytest.raises(category, match="It is removed"):
        warnings.warn("It is removed.", category, stacklevel=1)
