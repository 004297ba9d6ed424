"""An error report of a page that cannot be rendered does not show the token of its link."""

import pytest

from authservice.core.messages import kinds
from authservice.kernel import templates
from tests.abuse.reporting import found, reported
from tests.core.own_account.owner import CONFIRM, without_password
from tests.support.flows import ANN, CommittingApi, prove, verify_path

pytestmark = pytest.mark.django_db

UNKNOWN = "A" * 43


@pytest.fixture
def robust():
    return CommittingApi(raising=False)


@pytest.fixture
def broken(monkeypatch):
    def render(path, context):
        raise LookupError(path)

    monkeypatch.setattr(templates, "render", render)


@pytest.fixture
def deletion(owner, post, configure):
    """A link to delete the account."""
    configure(CORE={"ALLOW_SELF_DELETE": True})
    prove()
    without_password(owner)
    owner.ask("DELETE", "me", password=None)
    return post.token(kinds.DELETE_ACCOUNT)


def shown(robust, path, token):
    with reported() as reports:
        assert robust.get(path, headers={"Accept": "text/html"}).status == 500
    assert reports
    return found(reports, {token})


def test_page_of_a_changed_address(robust, requested, broken):
    token = requested()

    assert shown(robust, f"{CONFIRM}?token={token}", token) == set()


def test_page_of_a_deletion(robust, deletion, broken):
    assert shown(robust, f"account/delete?token={deletion}", deletion) == set()


def test_page_of_a_verification(robust, post, broken):
    robust.sign_up(ANN)
    token = post.token(kinds.VERIFY_EMAIL)

    assert shown(robust, verify_path(token), token) == set()


def test_page_of_a_link_that_undoes_a_change(robust, proven_owner, post, broken):
    changed = proven_owner.ask("PUT", "profile", phone="+4930123457", password=None)
    assert changed.status == 200, changed.body
    token = post.token(kinds.PHONE_CHANGED)

    assert shown(robust, f"account/secure?token={token}", token) == set()


def test_page_of_a_link_that_does_not_work(robust, broken):
    assert shown(robust, f"account/secure?token={UNKNOWN}", UNKNOWN) == set()
