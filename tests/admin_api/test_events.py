"""Every action of staff is recorded: actor, target, client, and the values before and after."""

import pytest

from tests.admin_api.people import ANN, BOB, Admin, person
from tests.support.people import the_user
from tests.support.slots import Listener

pytestmark = pytest.mark.django_db

ACTIONS = {
    "update": (lambda root, who: root.put(who, name="Anna"), ["admin.user.updated"]),
    "suspend": (
        lambda root, who: root.do("suspend", who),
        ["admin.user.updated", "admin.user.suspended"],
    ),
    "suspend by PUT": (
        lambda root, who: root.put(who, active=False),
        ["admin.user.updated", "admin.user.suspended"],
    ),
    "delete": (lambda root, who: root.delete(who), ["admin.user.deleted"]),
    "log out": (lambda root, who: root.do("logout", who), ["security.session.revoked"]),
    "send a reset link": (
        lambda root, who: root.do("reset-password", who),
        ["auth.password.reset_requested"],
    ),
}
SEVERE = ("admin.user.deleted", "admin.user.suspended", "admin.user.reactivated")


@pytest.mark.parametrize("action", ACTIONS)
def test_action_is_recorded_with_actor_target_and_client(root, ann, ann_id, recorded, action):
    do, actions = ACTIONS[action]
    pk = the_user(ANN).pk
    received = []
    recorded()

    assert do(root, ann_id).status == 200

    received = recorded()
    assert [event.action for event in received] == actions
    for event in received:
        assert event.user.pk == person("root@example.com").user.pk
        assert event.actor_type == "admin"
        assert event.client.address == "127.0.0.1"
        assert event.client.request_id
        assert event.severity == ("warning" if event.action in SEVERE else "info")
        assert event.action == "admin.user.deleted" or event.target.pk == pk


def test_listener_can_read_the_target_of_a_deletion(root, ann, ann_id, monkeypatch):
    targets = []

    def listen(event):
        targets.append((event.action, str(event.target and event.target.pk)))

    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (Listener(listen),))
    root.delete(ann_id)

    assert targets == [("admin.user.deleted", ann_id)]


def test_reactivation_is_recorded(root, ann_id, recorded):
    root.do("suspend", ann_id)
    recorded()

    root.do("reactivate", ann_id)

    assert [e.action for e in recorded()] == ["admin.user.updated", "admin.user.reactivated"]


def test_creation_is_recorded(root, recorded):
    recorded()

    root.create(email="eve@example.com", name="Eve")

    (event,) = recorded()
    assert (event.action, event.actor_type) == ("admin.user.created", "admin")
    assert event.target.pk == person("eve@example.com").user.pk
    assert event.metadata["email"] == {"before": None, "after": "eve@example.com"}


def test_change_is_recorded_with_the_values_before_and_after(root, ann_id, recorded):
    recorded()

    root.put(ann_id, name="Anna", email="anna@example.com", is_super_admin=True, username="ann")

    (event,) = recorded()
    assert event.metadata == {
        "name": {"before": "", "after": "Anna"},
        "email": {"before": ANN, "after": "anna@example.com"},
        "is_super_admin": {"before": False, "after": True},
    }


def test_lost_verification_is_recorded(root, ann_id, recorded):
    root.put(ann_id, email_verified=True)
    recorded()

    root.put(ann_id, email="anna@example.com")

    (event,) = recorded()
    assert event.metadata["email_verified"] == {"before": True, "after": False}


@pytest.mark.parametrize("body", [{"name": ""}, {"email": ANN}, {"active": True}])
def test_request_that_changes_nothing_is_not_recorded(root, ann_id, recorded, body):
    recorded()

    assert root.put(ann_id, **body).status == 200

    assert recorded() == []


def test_refused_request_is_not_recorded(root, api, ann_id, recorded):
    api.sign_up(BOB)
    recorded()

    root.put(ann_id, email=BOB)
    root.put(ann_id)
    root.delete(root.id)
    root.put(root.id, is_super_admin=False)
    root.create(email=BOB)

    assert recorded() == []


def test_request_without_the_right_is_recorded(api, ann, ann_id, recorded):
    api.request("DELETE", f"admin/users/{ann_id}", token=ann["access_token"])

    (event,) = recorded()
    assert (event.action, event.actor_type) == ("security.forbidden", "user")
    assert str(event.user.pk) == ann_id


def test_link_requested_by_staff_is_not_recorded_again_by_the_worker(root, ann_id, recorded, post):
    root.do("reset-password", ann_id)
    recorded()

    post.link("reset-link")

    assert recorded() == []


def test_use_of_the_link_for_a_new_user_is_recorded_as_action_of_the_owner(
    root, api, recorded, post
):
    root.create(email="eve@example.com")
    token = post.token("account-made")
    recorded()

    body = {"token": token, "email": "eve@example.com", "new_password": "fig biscuit 17 lanterns"}
    api.request("POST", "reset-password", body)

    eve = person("eve@example.com").user.pk
    assert [(e.action, e.user.pk) for e in recorded()] == [
        ("auth.password.reset", eve),
        ("user.email.verified", eve),
    ]


def test_action_that_cannot_be_recorded_is_rolled_back(root, api, ann, ann_id, settings):
    settings.INSTALLED_APPS = [
        *settings.INSTALLED_APPS,
        "tests.support.modules.apps.FailingListener",
    ]
    root.api.raising = False

    for action, _ in ACTIONS.values():
        assert action(root, ann_id).status == 500

    settings.INSTALLED_APPS = settings.INSTALLED_APPS[:-1]
    assert root.show(ann_id).data == {
        **ann["user"],
        "is_super_admin": False,
        "token_version": 0,
    }
    assert api.get("me", token=ann["access_token"]).status == 200


def test_actions_of_two_admins_name_each_of_them(root, api, ann_id, recorded):
    bob = Admin(api, BOB)
    recorded()

    bob.put(ann_id, name="Anna")

    (event,) = recorded()
    assert str(event.user.pk) == bob.id
