"""The entries of a batch, such as an import, equal those of single actions."""

import pytest
from django.db import connection
from django.forms import model_to_dict

from authservice.audit.models import Entry
from authservice.kernel import events
from authservice.kernel.client import Client
from authservice.kernel.hooks import Refused
from tests.audit.world import ANN
from tests.support.client import PASSWORD
from tests.support.people import make_user
from tests.support.statements import statements

pytestmark = pytest.mark.django_db
ACTION = "user.email.verified"


def stored(user):
    entry = Entry.objects.get(target_id=str(user.pk), action=ACTION)
    return model_to_dict(entry, exclude=["id", "created_at", "target_id"])


def test_entries_of_a_batch_equal_those_of_single_actions():
    single, *others = [make_user(f"{name}@example.com") for name in ("ann", "bob", "carl")]

    events.record_by_staff(ACTION, None, single, Client(), reason="import")
    events.record_all_by_staff(ACTION, None, others, Client(), reason="import")

    assert [stored(user) for user in others] == [stored(single)] * 2


def test_entries_of_a_batch_need_one_statement(django_assert_num_queries):
    users = [make_user(f"user{number}@example.com") for number in range(20)]

    with django_assert_num_queries(1):
        events.record_all_by_staff(ACTION, None, users, Client())


def test_entries_of_a_login_need_one_statement_which_postgresql_runs_with_its_session(world):
    world.api.log_in(ANN)
    world.forget()

    asked = [sql for sql in statements(lambda: world.api.log_in(ANN)) if "audit_entry" in sql]

    assert world.log() == ["security.new_device ann", "auth.login.success ann"]
    assert ["core_session" in sql for sql in asked] == [connection.vendor == "postgresql"]


def test_entry_of_a_sign_up_needs_one_statement(world):
    world.forget()

    def sign_up():
        world.api.sign_up("new@example.com")

    asked = [sql for sql in statements(sign_up) if "audit_entry" in sql]

    assert actions() == ["auth.signup"]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("core", "further"),
    [
        ({"REQUIRE_EMAIL_VERIFICATION": True}, []),
        ({"LOGIN_HOOK": f"{__name__}.refuse"}, ["auth.login.failed"]),
    ],
    ids=["unverified", "refused"],
)
def test_sign_up_without_a_session_has_its_entry(world, configure, core, further):
    configure(CORE=core)
    world.forget()

    world.api.post("signup", email="new@example.com", password=PASSWORD)

    assert actions() == ["auth.signup", *further]


def refuse(attempt):
    raise Refused("NOT_APPROVED", "Not approved.")


def actions():
    return list(Entry.objects.order_by("pk").values_list("action", flat=True))


def test_excluded_action_of_a_login_has_no_entry(world, configure):
    configure(AUDIT={"EXCLUDE": ["auth.login.success", "security.new_device"]})

    world.forget()

    world.api.log_in(ANN)

    assert world.log() == []


def test_excluded_action_of_a_batch_has_no_entry(configure):
    user = make_user()
    configure(AUDIT={"EXCLUDE": [ACTION]})

    events.record_all_by_staff(ACTION, None, [user], Client())

    assert not Entry.objects.filter(action=ACTION).exists()
