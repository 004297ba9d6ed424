"""MariaDB and MySQL: the host's tables have another collation or character set than ours."""

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.db import connection

from authservice.core.models import Account
from authservice.core.users.creation import NewUser
from authservice.oauth.storage import DatabaseUsers
from tests.support.client import PASSWORD, Api
from tests.support.people import email_field

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor != "mysql", reason="columns of the others have no charset"
    ),
]

USERS = get_user_model()._meta.db_table
ACCOUNTS = Account._meta.db_table
OWL = "Ann \U0001f989"


def convert(table, charset, collation):
    with connection.cursor() as cursor:
        cursor.execute("SET FOREIGN_KEY_CHECKS = 0")
        cursor.execute(
            f"ALTER TABLE {table} CONVERT TO CHARACTER SET {charset} COLLATE {collation}"
        )
        cursor.execute("SET FOREIGN_KEY_CHECKS = 1")


@pytest.fixture
def converted():
    """`converted(charset, collation, *tables)`"""
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@character_set_database, @@collation_database")
        before = cursor.fetchone()

    def change(charset, collation, *tables):
        for table in tables or (USERS,):
            convert(table, charset, collation)

    yield change
    for table in (USERS, ACCOUNTS):
        convert(table, *before)


@pytest.mark.parametrize(
    ("charset", "collation"),
    [
        ("utf8mb4", "utf8mb4_general_ci"),
        ("utf8mb4", "utf8mb4_unicode_520_ci"),
        ("utf8mb4", "utf8mb4_bin"),
        ("utf8mb3", "utf8mb3_general_ci"),
        ("latin1", "latin1_swedish_ci"),
    ],
)
def test_users_in_a_table_of_another_collation_sign_up_and_log_in(converted, charset, collation):
    converted(charset, collation)
    api = Api()

    assert api.post("is-available", username="ann").data["available"] is True
    token = api.sign_up(username="ann")["access_token"]
    assert api.post("is-available", username="ANN").data["available"] is False
    assert api.post("is-available", email="ann@example.com").data["available"] is False
    assert api.log_in()["user"]["username"] == "ann"
    assert api.post("login", username="ann", password=PASSWORD).status == 200
    assert api.post("login", username=OWL, password=PASSWORD).error == (401, "INVALID_CREDENTIALS")
    body = {"username": "anna", "password": PASSWORD}
    assert api.request("PUT", "change-username", body, token=token).status == 200
    get_user_model().objects.bulk_create([make_unsaved()])
    assert api.post("signup", username="BEN", email="b@example.com", password=PASSWORD).code == (
        "USERNAME_ALREADY_EXISTS"
    )


def make_unsaved():
    user = get_user_model()(username="ben", **{email_field(): "ben@example.com"})
    user.set_password(PASSWORD)
    return user


@pytest.mark.parametrize(
    ("charset", "collation"),
    [("utf8mb3", "utf8mb3_general_ci"), ("latin1", "latin1_swedish_ci")],
)
def test_name_that_the_tables_cannot_store_is_a_clear_error(converted, charset, collation):
    converted(charset, collation, USERS, ACCOUNTS)
    api = Api(raising=False)
    token = api.sign_up()["access_token"]

    fields = [("PUT", "profile", {"name": OWL}, token)]
    sign_up = {"email": "owl@example.com", "password": PASSWORD}
    fields += [("POST", "signup", {**sign_up, name: OWL}, "") for name in ("name", "first_name")]
    for method, path, body, sent in fields:
        answer = api.request(method, path, body, token=sent)
        assert answer.error == (400, "VALIDATION_ERROR"), answer.body
        assert "characters" in answer.data["message"]
    assert api.post("login", email="\U0001f989@example.com", password=PASSWORD).status == 401


def test_check_names_columns_that_cannot_store_every_name(converted):
    def texts():
        found = run_checks(tags=["database"], databases=["default"])
        return [one.msg for one in found if one.id == "authservice.W085"]

    assert texts() == []
    converted("utf8mb3", "utf8mb3_general_ci", USERS, ACCOUNTS)

    (text,) = texts()
    assert f"{ACCOUNTS}.name" in text
    assert f"{USERS}.first_name" in text


@pytest.mark.parametrize(
    ("charset", "collation"),
    [("utf8mb3", "utf8mb3_general_ci"), ("latin1", "latin1_swedish_ci")],
)
def test_name_of_a_provider_loses_characters_that_cannot_be_stored(converted, charset, collation):
    converted(charset, collation, USERS, ACCOUNTS)
    new_user = NewUser(email="ann@example.com", name=OWL, first_name="\u0141ucja \U0001f989")

    person = DatabaseUsers().create(new_user, lambda person: person)

    assert person.account.name == "Ann"
    assert get_user_model().objects.get().first_name == "ucja"
