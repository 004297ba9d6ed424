"""Every deed of staff is told with who did what to whom, from where, and what it was before."""

import pytest

from tests.admin_api.people import ANN, BOB, Admin, person
from tests.people import the_user

pytestmark = pytest.mark.django_db

DEEDS = {
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
    "mail a link": (
        lambda root, who: root.do("reset-password", who),
        ["auth.password.reset_requested"],
    ),
}
SEVERE = ("admin.user.deleted", "admin.user.suspended", "admin.user.reactivated")


@pytest.mark.parametrize("deed", DEEDS)
def test_a_deed_is_told_with_actor_target_and_address(root, ann, ann_id, told, deed):
    do, actions = DEEDS[deed]
    pk = the_user(ANN).pk
    heard = []
    told()

    assert do(root, ann_id).status == 200

    heard = told()
    assert [event.action for event in heard] == actions
    for event in heard:
        assert event.user.pk == person("root@example.com").user.pk
        assert event.actor_type == "admin"
        assert event.client.address == "127.0.0.1"
        assert event.client.request_id
        assert event.severity == ("warning" if event.action in SEVERE else "info")
        assert event.action == "admin.user.deleted" or event.target.pk == pk


def test_the_target_of_a_deletion_can_still_be_named_by_a_listener(root, ann, ann_id, monkeypatch):
    named = []

    def listen(event):
        named.append((event.action, str(event.target and event.target.pk)))

    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (listen,))
    root.delete(ann_id)

    assert named == [("admin.user.deleted", ann_id)]


def test_a_reactivation_is_told(root, ann_id, told):
    root.do("suspend", ann_id)
    told()

    root.do("reactivate", ann_id)

    assert [e.action for e in told()] == ["admin.user.updated", "admin.user.reactivated"]


def test_a_creation_is_told(root, told):
    told()

    root.create(email="eve@example.com", name="Eve")

    (event,) = told()
    assert (event.action, event.actor_type) == ("admin.user.created", "admin")
    assert event.target.pk == person("eve@example.com").user.pk
    assert event.metadata["email"] == {"before": None, "after": "eve@example.com"}


def test_what_was_and_what_is_are_told(root, ann_id, told):
    told()

    root.put(ann_id, name="Anna", email="anna@example.com", is_super_admin=True, username="ann")

    (event,) = told()
    assert event.metadata == {
        "name": {"before": "", "after": "Anna"},
        "email": {"before": ANN, "after": "anna@example.com"},
        "is_super_admin": {"before": False, "after": True},
    }


def test_a_lost_proof_is_told(root, ann_id, told):
    root.put(ann_id, email_verified=True)
    told()

    root.put(ann_id, email="anna@example.com")

    (event,) = told()
    assert event.metadata["email_verified"] == {"before": True, "after": False}


@pytest.mark.parametrize("body", [{"name": ""}, {"email": ANN}, {"active": True}])
def test_what_changes_nothing_is_not_told(root, ann_id, told, body):
    told()

    assert root.put(ann_id, **body).status == 200

    assert told() == []


def test_what_is_refused_is_not_told(root, api, ann_id, told):
    api.sign_up(BOB)
    told()

    root.put(ann_id, email=BOB)
    root.put(ann_id)
    root.delete(root.id)
    root.put(root.id, is_super_admin=False)
    root.create(email=BOB)

    assert told() == []


def test_a_user_without_the_right_is_recorded(api, ann, ann_id, told):
    api.request("DELETE", f"admin/users/{ann_id}", token=ann["access_token"])

    (event,) = told()
    assert (event.action, event.actor_type) == ("security.forbidden", "user")
    assert str(event.user.pk) == ann_id


def test_a_link_that_staff_asked_for_is_not_told_again_by_the_worker(root, ann_id, told, post):
    root.do("reset-password", ann_id)
    told()

    post.link("reset-link")

    assert told() == []


def test_using_the_first_link_is_told_as_the_owners_deed(root, api, told, post):
    root.create(email="eve@example.com")
    token = post.token("account-made")
    told()

    body = {"token": token, "email": "eve@example.com", "new_password": "fig biscuit 17 lanterns"}
    api.request("POST", "reset-password", body)

    eve = person("eve@example.com").user.pk
    assert [(e.action, e.user.pk) for e in told()] == [
        ("auth.password.reset", eve),
        ("user.email.verified", eve),
    ]


def test_a_deed_that_cannot_be_told_is_not_done(root, api, ann, ann_id, settings):
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.plugs.apps.Refuser"]
    root.api.raising = False

    for deed, _ in DEEDS.values():
        assert deed(root, ann_id).status == 500

    settings.INSTALLED_APPS = settings.INSTALLED_APPS[:-1]
    assert root.show(ann_id).data == {
        **ann["user"],
        "is_super_admin": False,
        "token_version": 0,
    }
    assert api.get("me", token=ann["access_token"]).status == 200


def test_two_admins_are_told_apart(root, api, ann_id, told):
    bob = Admin(api, BOB)
    told()

    bob.put(ann_id, name="Anna")

    (event,) = told()
    assert str(event.user.pk) == bob.id
