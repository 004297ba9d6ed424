"""Extra fields in responses: users see their own, and nobody sees those of others."""

import datetime
import json
from decimal import Decimal
from functools import partial

import pytest
from rest_framework import serializers

from authservice.core.api.responses import as_json
from authservice.core.models import Account
from authservice.openapi import request_schemas
from authservice.openapi.document import describe
from tests.extending.people.models import Profile, User
from tests.support.flows import prove
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db
SHOWN = {"full_name": "Ann Lee", "born": "1990-02-03"}


def further(user):
    return {name: user[name] for name in SHOWN if name in user}


@pytest.fixture
def ann(documented, sign_up):
    documented(0)
    answer = sign_up()
    prove()
    return answer.data


def test_signup_login_me_and_profile_show_the_extra_fields(api, ann):
    token = ann["access_token"]
    changed = api.request("PUT", "profile", {"name": "Annabel"}, token=token).data

    for user in (ann["user"], api.log_in()["user"], api.get("me", token=token).data, changed):
        assert further(user) == SHOWN


def test_signup_that_must_be_verified_shows_the_extra_fields(documented, sign_up):
    documented(0, REQUIRE_EMAIL_VERIFICATION=True)

    assert further(sign_up().data["user"]) == SHOWN


def test_second_step_shows_the_extra_fields_and_the_challenge_does_not(clock, api, ann):
    person = Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()
    clock.forward(seconds=30)
    challenged = api.log_in()

    answer = person.verify_login(person.code(), challenged["challenges"][0]["data"]["temp_token"])

    assert further(challenged["user"]) == {}
    assert further(answer.data["user"]) == SHOWN


def test_extra_fields_take_no_further_statement(
    api, ann, configure, django_assert_num_queries, settings
):
    api.get("me", token=ann["access_token"])

    with django_assert_num_queries(1):
        assert further(api.get("me", token=ann["access_token"]).data) == SHOWN


def test_lists_of_members_and_users_never_show_extra_fields(api, ann, sign_up):
    token, key = ann["access_token"], ann["user"]["id"]
    organization = api.post("org", token=token, name="Acme").data["id"]
    Account.objects.update(is_super_admin=True)

    answers = [
        api.get(f"org/{organization}/members", token=token),
        api.get(f"org/{organization}/members/{key}", token=token),
        api.get("admin/users", token=token),
        api.get(f"admin/users/{key}", token=token),
        api.request("PUT", f"admin/users/{key}", {"name": "Annabel"}, token=token),
    ]

    assert [answer.status for answer in answers] == [200] * len(answers)
    for answer in answers:
        assert "Ann Lee" not in answer.response.content.decode()
        assert "full_name" not in answer.response.content.decode()


def test_invitation_never_shows_extra_fields(api, ann, post):
    token = ann["access_token"]
    organization = api.post("org", token=token, name="Acme").data["id"]
    invited = api.post(f"org/{organization}/invite", token=token, email="eve@example.com")

    listed = api.get(f"org/{organization}/invitations", token=token)

    assert invited.status == 201
    assert "Ann Lee" not in f"{invited.body} {listed.body}"


def test_path_through_a_relation_without_a_row_is_null(api, ann, use):
    use(USER_FIELDS={"city": "profile.city"})

    assert api.get("me", token=ann["access_token"]).data["city"] is None
    Profile.objects.create(user=User.objects.get(), city="Rome")
    assert api.get("me", token=ann["access_token"]).data["city"] == "Rome"


def test_properties_can_be_shown(api, ann, use):
    use(USER_FIELDS=["initials"])

    assert api.get("me", token=ann["access_token"]).data["initials"] == "AL"


def test_a_field_of_ours_wins_over_a_further_one(api, ann, use):
    use(USER_FIELDS={"email": "full_name"})

    assert api.get("me", token=ann["access_token"]).data["email"] == "ann@example.com"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC), "2030-01-01T00:00:00.000000Z"),
        (datetime.time(12, 30), "12:30:00"),
        (datetime.timedelta(minutes=1), 60.0),
        ({"a": [1, (True, None)]}, {"a": [1, [True, None]]}),
    ],
)
def test_values_of_extra_fields_as_json(value, shown):
    assert as_json(value) == shown


def test_value_without_a_json_form_is_an_error():
    with pytest.raises(TypeError, match="object"):
        as_json(object())


def test_description_has_the_extra_fields_of_requests_and_responses(documented, db):
    documented(0)

    document = describe()

    schemas = document["components"]["schemas"]
    asked = body_of(document, "/signup", "post")["anyOf"][0]
    assert schemas["User"]["properties"]["born"] == {
        "type": ["string", "null"],
        "format": "date",
    }
    assert schemas["User"]["properties"]["full_name"]["description"] == "As in a passport."
    assert {"full_name", "born"} <= set(schemas["User"]["required"])
    assert "full_name" not in schemas["AdminUser"]["properties"]
    assert asked["properties"]["full_name"]["maxLength"] == 80
    assert asked["required"] == ["email", "password", "full_name"]
    changed = body_of(document, "/profile", "put")
    assert "full_name" in changed["properties"]
    assert changed["required"] == []


def body_of(document, path, method):
    content = document["paths"][path][method]["requestBody"]["content"]
    return content["application/json"]["schema"]


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize(
    ("kind", "largest", "shown"),
    [
        (serializers.IntegerField, 5, 5),
        (serializers.IntegerField, Decimal(5), 5),
        (serializers.FloatField, Decimal("0.5"), 0.5),
        (partial(serializers.DecimalField, max_digits=3, decimal_places=1), Decimal(5), None),
        (serializers.DurationField, datetime.timedelta(days=1), None),
    ],
)
def test_largest_value_of_an_extra_field_is_json(kind, largest, shown, null):
    schema = request_schemas.of_input(kind(max_value=largest, allow_null=null))

    assert json.loads(json.dumps(schema)).get("maximum") == shown
    assert ("null" in schema.get("type", [])) is (null and "type" in schema)
