"""A request of a super admin whose session ends during the request changes nothing."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.api.endpoint import Endpoint
from authservice.core.models import Account, Session
from authservice.core.sessions import sessions
from authservice.core.users import lookup
from tests.admin_api.people import ANN, account, promote
from tests.contract.shapes import is_refusal

pytestmark = pytest.mark.django_db

REQUESTS = {
    "change": lambda root, ann: root.put(ann, name="Ann"),
    "change the address": lambda root, ann: root.put(ann, email="mine@example.com"),
    "suspend": lambda root, ann: root.do("suspend", ann),
    "reactivate": lambda root, ann: root.do("reactivate", ann),
    "log out": lambda root, ann: root.do("logout", ann),
    "reset the password": lambda root, ann: root.do("reset-password", ann),
    "delete": lambda root, ann: root.delete(ann),
    "create": lambda root, ann: root.create(email="eve@example.com"),
}


def end_sessions(root):
    return sessions.end_all(lookup.get_person(account(root.email).user), "password reset")


REVOCATIONS = {
    "ended": (
        lambda root: Session.objects.update(ended_at="2030-01-01T00:00Z"),
        401,
        "INVALID_TOKEN",
    ),
    "reset": (end_sessions, 401, "INVALID_TOKEN"),
    "demoted": (lambda root: promote(root.email, flag=False), 403, "FORBIDDEN"),
}


@pytest.fixture
def after_authentication(monkeypatch):
    """`after_authentication(act)` runs `act` once a request was authenticated, before it acts."""

    def arrange(act):
        identify = Endpoint._identify

        def identify_then_act(view, request):
            identify(view, request)
            assert view.identity.person.is_super_admin
            act()

        monkeypatch.setattr(Endpoint, "_identify", identify_then_act)

    return arrange


@pytest.mark.parametrize("end", REVOCATIONS)
@pytest.mark.parametrize("request_", REQUESTS)
def test_super_admin_whose_session_ends_during_the_request_changes_nothing(
    root, ann_id, post, after_authentication, request_, end
):
    act, status, code = REVOCATIONS[end]
    before = Account.objects.values().get(pk=account(ANN).pk)
    after_authentication(lambda: act(root))

    answer = REQUESTS[request_](root, ann_id)

    assert is_refusal(answer, status, code)
    assert Account.objects.values().get(email=ANN) == before
    assert get_user_model().objects.count() == 2
    assert post.jobs == []


@pytest.mark.parametrize("request_", REQUESTS)
def test_super_admin_whose_session_stays_valid_is_served(
    root, ann_id, after_authentication, request_
):
    after_authentication(lambda: None)

    assert REQUESTS[request_](root, ann_id).status in (200, 201)
