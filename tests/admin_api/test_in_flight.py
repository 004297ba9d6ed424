"""A request of a super admin whose session ends while the request is under way changes nothing."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account, Session
from authservice.core.sessions import sessions
from authservice.core.users import lookup
from authservice.kernel.http.views import Endpoint
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


def stop(root):
    return sessions.end_all(lookup.get_person(account(root.email).user), "password reset")


ENDS = {
    "ended": (
        lambda root: Session.objects.update(ended_at="2030-01-01T00:00Z"),
        401,
        "INVALID_TOKEN",
    ),
    "reset": (stop, 401, "INVALID_TOKEN"),
    "demoted": (lambda root: promote(root.email, flag=False), 403, "FORBIDDEN"),
}


@pytest.fixture
def meanwhile(monkeypatch):
    """`meanwhile(act)` runs `act` once, after a request was authenticated and before it acts."""

    def arrange(act):
        identify = Endpoint._identify

        def identify_then_act(view, request):
            identify(view, request)
            assert view.identity.person.is_super_admin
            act()

        monkeypatch.setattr(Endpoint, "_identify", identify_then_act)

    return arrange


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("request_", REQUESTS)
def test_an_admin_whose_session_ends_meanwhile_changes_nothing(
    root, ann_id, post, meanwhile, request_, end
):
    act, status, code = ENDS[end]
    before = Account.objects.values().get(pk=account(ANN).pk)
    meanwhile(lambda: act(root))

    answer = REQUESTS[request_](root, ann_id)

    assert is_refusal(answer, status, code)
    assert Account.objects.values().get(email=ANN) == before
    assert get_user_model().objects.count() == 2
    assert post.jobs == []


@pytest.mark.parametrize("request_", REQUESTS)
def test_an_admin_whose_session_goes_on_is_served(root, ann_id, meanwhile, request_):
    meanwhile(lambda: None)

    assert REQUESTS[request_](root, ann_id).status in (200, 201)
