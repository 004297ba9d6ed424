"""Extra fields of a sign-up."""

import datetime

import pytest

from authservice.core.messages import kinds
from authservice.core.models import Account, OneTimeToken
from authservice.core.users import extra_fields
from tests.extending import test_hooks
from tests.extending.inside.conftest import ANN
from tests.extending.people.models import Profile, User
from tests.support.statements import statements

pytestmark = pytest.mark.django_db


def test_signup_stores_the_columns_of_the_user_model_and_shows_them(documented, sign_up):
    documented(0)

    answer = sign_up()

    assert answer.status == 201
    user = User.objects.get()
    assert (user.full_name, user.born) == ("Ann Lee", datetime.date(1990, 2, 3))
    assert answer.data["user"]["full_name"] == "Ann Lee"
    assert answer.data["user"]["born"] == "1990-02-03"


def test_signup_of_columns_takes_no_further_statement(documented, sign_up):
    sign_up(email="warm@example.com")
    without = statements(lambda: sign_up(email="eve@example.com"))
    documented(0)

    assert statements(sign_up) == without


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"full_name": None}, "full_name: This field is required."),
        ({"full_name": ""}, "full_name: This field may not be blank."),
        ({"full_name": "x" * 81}, "full_name: Ensure this field has no more than 80 characters."),
        ({"born": "yesterday"}, "born: Date has wrong format"),
        ({"full_name": {"a": 1}}, "full_name: Not a valid string."),
        ({"full_name": "a" + "\u0301" * 31}, "full_name: Must not contain more than 30"),
    ],
)
def test_signup_with_an_invalid_extra_field_names_it_and_stores_nothing(
    documented, sign_up, wrong, message
):
    documented(0)

    answer = sign_up(**wrong)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(message)
    assert not User.objects.exists()


def test_signup_error_details_name_nested_fields(use, sign_up, configure, settings):
    use("Nested")
    configure(API={"ERROR_DETAILS": True}, CORE=settings.AUTHSERVICE["CORE"])

    answer = sign_up(address={"street": "too long"})

    assert set(answer.data["details"]) == {"address.street"}


def test_signup_stores_a_profile_in_the_same_transaction(documented, sign_up):
    documented(1)

    answer = sign_up(city="Rome")

    assert answer.status == 201
    assert Profile.objects.get().user == User.objects.get()
    assert answer.data["user"]["city"] == "Rome"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("refuse", (403, "NO_SUCH_CITY")),
        ("invalid", (400, "VALIDATION_ERROR")),
        ("crash", (500, "INTERNAL_ERROR")),
    ],
)
def test_signup_whose_serializer_fails_to_store_leaves_no_user(use, robust, how, error):
    use("Broken")

    answer = robust.post("signup", **ANN, how=how)

    assert answer.error == error
    assert not User.objects.exists()
    assert not Account.objects.exists()
    assert not Profile.objects.exists()


def test_signup_serializer_cannot_give_rights(use, robust, sign_up):
    use("Elevating")

    assert robust.post("signup", **ANN).error == (500, "INTERNAL_ERROR")
    assert not User.objects.exists()


def test_signup_ignores_fields_that_the_serializer_does_not_have(documented, sign_up):
    documented(0)

    sign_up(is_staff=True, is_superuser=True, badge="A1", last_login="2020-01-01T00:00:00Z")

    user = User.objects.get()
    assert (user.is_staff, user.is_superuser, user.badge) == (False, False, None)


def test_serializer_gets_only_its_own_fields(documented):
    documented(0)

    further = extra_fields.at_signup(ANN)

    assert set(further.initial_data) == {"full_name", "born"}


def test_signup_with_a_taken_unique_value_names_the_field(use, sign_up):
    use("Badge")
    sign_up(badge="A1")

    answer = sign_up(email="eve@example.com", badge="A1")

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("badge: ")


def test_signup_stores_related_rows(use, sign_up):
    use("Badge")
    sign_up()
    first = User.objects.get()

    sign_up(email="eve@example.com", friends=[first.pk])

    assert list(User.objects.get(email="eve@example.com").friends.all()) == [first]


def test_signup_hook_sees_the_extra_fields(documented, sign_up):
    test_hooks.seen.clear()
    documented(0, SIGNUP_HOOK="tests.extending.test_hooks.watch")

    sign_up()

    (attempt,) = test_hooks.seen
    assert attempt.fields["full_name"] == attempt.user.full_name == "Ann Lee"


def test_hidden_signup_stores_the_extra_fields_in_the_worker(documented, sign_up, post):
    documented(0, SIGNUP_ENUMERATION="hide")

    invalid = sign_up(born="yesterday")
    answer = sign_up()

    assert (invalid.status, answer.status) == (400, 201)
    assert "Ann Lee" not in str(list(OneTimeToken.objects.values()))
    assert not User.objects.exists()
    assert post.outgoing(kinds.SIGNUP)
    assert User.objects.get().full_name == "Ann Lee"


def test_hidden_signup_whose_unique_value_is_taken_meanwhile_creates_nothing(
    use, sign_up, post, caplog
):
    use("Badge", SIGNUP_ENUMERATION="hide")
    sign_up(badge="A1")
    User.objects.create(email="eve@example.com", full_name="Eve", born="1990-01-01", badge="A1")

    assert post.outgoing(kinds.SIGNUP) is None

    assert User.objects.count() == 1
    assert "not valid any more" in caplog.text
    assert OneTimeToken.objects.get(purpose="pending-signup").payload == {}
