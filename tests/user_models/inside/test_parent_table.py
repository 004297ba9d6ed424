"""The user model inherits the table of another model."""

import pytest
from django.core.checks import run_checks

from tests.support.client import PASSWORD, Api

pytestmark = pytest.mark.django_db


def test_constraint_of_the_parent_that_refuses_the_second_sign_up_is_named():
    api = Api(raising=False)
    errors = [api.post("signup", username=name, password=PASSWORD).error for name in ("ann", "bob")]
    found = [one.msg for one in run_checks(tags=["authservice"]) if one.id == "authservice.W083"]

    assert errors[1] == (409, "CONFLICT")
    assert [text.split(" is ")[0] for text in found] == [
        "people.ChildUser: unique_together of tenant, code"
    ]
