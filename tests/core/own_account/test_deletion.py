"""DELETE /me and POST /me/delete: users delete their own account."""

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError
from django.db.models.signals import pre_delete

from authservice.core.messages import kinds
from authservice.core.models import Account, OneTimeToken, Session
from tests.admin_api.people import promote
from tests.contract.shapes import is_refusal
from tests.core.own_account.owner import (
    INVALID,
    REAUTHENTICATE,
    confirm,
    without_password,
)
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.flows import ANN, account, deactivate, prove
from tests.support.interleaved import once_counted
from tests.support.people import users
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

BROWSER = {"Accept": "text/html,application/xhtml+xml"}
FORM = "application/x-www-form-urlencoded"
LINK = "account/delete"
ROUTES = [("DELETE", "me"), ("POST", "me/delete")]


@pytest.fixture(autouse=True)
def allow(configure):
    """`allow(**more)`: the project allows it, and changes further settings of core."""

    def allow(**more):
        configure(CORE={"ALLOW_SELF_DELETE": True, **more})

    allow()
    return allow


@pytest.fixture(params=ROUTES, ids=" ".join)
def delete(owner, request):
    return lambda **body: owner.ask(*request.param, **body)


@pytest.fixture
def link(owner, post):
    """The token that Ann gets, who has no password."""
    prove()
    without_password(owner)
    assert owner.ask("DELETE", "me", password=None).status == 200
    return post.token(kinds.DELETE_ACCOUNT)


def use(api, token, **options):
    return api.request("POST", LINK, {"token": token}, **options)


def test_account_and_all_its_rows_are_deleted(delete):
    answer = delete()

    assert answer.status == 200
    assert list(answer.data) == ["message"]
    assert users() == 0
    assert [model.objects.count() for model in (Account, Session, OneTimeToken)] == [0, 0, 0]


def test_tokens_of_the_account_are_refused(api, owner, delete, ann):
    delete()

    assert api.get("me", token=owner.token).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=ann["refresh_token"]).status == 401
    assert api.post("login", email=ANN, password=PASSWORD).code == "INVALID_CREDENTIALS"


def test_address_is_free_again(api, delete):
    delete()

    assert api.post("signup", email=ANN, password=PASSWORD).status == 201


def test_proven_address_gets_a_mail_about_the_deletion(delete, post):
    prove()
    delete()

    message = post.outgoing(kinds.ACCOUNT_DELETED)
    assert (message.to, message.person) == (ANN, None)


def test_address_that_is_not_proven_gets_no_mail(delete, post):
    delete()

    assert post.jobs == []


def test_deletion_is_disabled_by_default(delete, configure):
    configure(CORE={})

    assert is_refusal(delete(), 403, "SELF_DELETE_DISABLED")
    assert users() == 1


def test_link_is_disabled_with_the_setting(api, link, configure):
    configure(CORE={})

    assert use(api, link).error == (403, "SELF_DELETE_DISABLED")
    assert api.get(f"{LINK}?token={link}").error == (403, "SELF_DELETE_DISABLED")


def test_last_super_admin_stays(delete):
    promote(ANN)

    assert is_refusal(delete(), 400, "LAST_SUPER_ADMIN")
    assert users() == 1


def test_super_admin_beside_another_is_deleted(api, delete):
    api.sign_up("root@example.com")
    promote("root@example.com")
    promote(ANN)

    assert delete().status == 200


def test_user_whom_the_project_protects_stays(delete, monkeypatch):
    def refuse(*_, **__):
        raise IntegrityError("another table references the user")

    monkeypatch.setattr(get_user_model(), "delete", refuse)

    assert is_refusal(delete(), 409, "USER_IN_USE")
    assert users() == 1


def test_receivers_are_called_before_the_deletion(delete):
    prepared = []

    def prepare(instance, **_):
        prepared.append(instance.email)

    pre_delete.connect(prepare, sender=get_user_model())
    try:
        delete()
    finally:
        pre_delete.disconnect(prepare, sender=get_user_model())

    assert prepared == [ANN]


# Hostile clients.


def test_stolen_token_of_an_old_session_deletes_nothing(delete):
    age_sessions()

    assert delete(password=None).error == REAUTHENTICATE
    assert delete(password="not the password").error == (401, "INVALID_CREDENTIALS")
    assert users() == 1


def test_password_without_the_code_of_the_factor_deletes_nothing(owner, delete, clock):
    owner.token = owner.api.log_in()["access_token"]
    person = Person(owner.api, token=owner.token, user_id=owner.user_id).enrol()
    clock.forward(seconds=30)

    assert delete().error == (401, "TWO_FACTOR_INVALID")
    assert delete(code=person.wrong_code()).error == (401, "TWO_FACTOR_INVALID")
    assert users() == 1
    assert delete(code=person.code()).status == 200


def test_token_of_an_ended_session_deletes_nothing(api, owner, delete):
    api.post("logout", token=owner.token)

    assert delete().error == (401, "INVALID_TOKEN")
    assert users() == 1


def test_session_that_ends_meanwhile_deletes_nothing(api, owner, delete, monkeypatch):
    once_counted(monkeypatch, lambda: api.post("logout", token=owner.token))

    assert delete().error == (401, "INVALID_TOKEN")
    assert users() == 1


def test_suspended_user_deletes_nothing(delete):
    deactivate()

    assert delete().error == (401, "INVALID_TOKEN")
    assert users() == 1


# Users without a password.


def test_user_without_a_password_gets_a_link_even_in_an_old_session(owner, delete, post):
    prove()
    without_password(owner)
    age_sessions()

    assert delete(password=None).status == 200
    assert users() == 1
    assert [(job.kind, job.target) for job in post.jobs] == [(kinds.DELETE_ACCOUNT, ANN)]


@pytest.mark.parametrize(("minutes", "left"), [(9, 0), (11, 1)])
def test_user_without_password_and_proven_address_needs_a_recent_login(
    owner, delete, minutes, left
):
    without_password(owner)
    age_sessions(minutes)

    answer = delete(password=None)

    assert answer.error == (REAUTHENTICATE if left else (200, ""))
    assert users() == left


def test_link_deletes_the_account_once(api, link):
    assert use(api, link).data["status"] == "success"

    assert users() == 0
    assert use(api, link).error == (400, "INVALID_TOKEN")


def test_link_of_another_user_deletes_only_the_account_that_requested_it(api, link):
    ben = api.sign_up("ben@example.com")
    headers = {"Authorization": f"Bearer {ben['access_token']}"}

    assert use(api, link, headers=headers).status == 200

    assert [one.email for one in Account.objects.all()] == ["ben@example.com"]
    assert api.get("me", token=ben["access_token"]).status == 200


def test_link_of_a_changed_address_deletes_nothing(api, requested):
    assert use(api, requested()).error == (400, "INVALID_TOKEN")

    assert users() == 1


def test_link_of_a_deletion_confirms_no_address(api, link):
    assert confirm(api, link).error == INVALID


def test_mail_with_the_link_is_not_sent_after_the_setting_was_turned_off(owner, post, configure):
    """A worker may compose it later."""
    prove()
    without_password(owner).ask("DELETE", "me", password=None)
    configure(CORE={})

    assert post.outgoing(kinds.DELETE_ACCOUNT) is None


def test_mail_with_the_link_is_not_sent_to_an_address_that_is_not_proven_any_more(owner, post):
    prove()
    without_password(owner).ask("DELETE", "me", password=None)
    Account.objects.update(proven_email_key="")

    assert post.outgoing(kinds.DELETE_ACCOUNT) is None


def test_link_does_not_delete_the_last_super_admin(api, link):
    promote(ANN)
    assert use(api, link).error == (400, "LAST_SUPER_ADMIN")
    api.sign_up("root@example.com")
    promote("root@example.com")

    assert use(api, link).status == 200
    assert users() == 1


def test_link_expires_after_an_hour(api, link):
    row = OneTimeToken.objects.get()
    assert (row.expires_at - row.created_at).total_seconds() == 3600
    OneTimeToken.objects.update(expires_at=row.created_at)

    assert use(api, link).error == (400, "TOKEN_EXPIRED")
    assert api.get(f"{LINK}?token={link}").error == (400, "TOKEN_EXPIRED")


def test_link_ends_with_a_new_password(api, link):
    user = account().user
    user.set_password(PASSWORD)
    user.save()

    assert use(api, link).error == (400, "INVALID_TOKEN")


def test_opened_link_shows_a_page_and_deletes_nothing(api, link):
    text = api.get(f"{LINK}?token={link}", headers=BROWSER).response.content.decode()

    assert ANN in text
    assert 'method="post"' in text
    assert api.get(f"{LINK}?token={link}").data == {"status": "confirm"}
    assert users() == 1


@pytest.mark.parametrize("headers", [{"Purpose": "prefetch"}, BROWSER])
def test_head_and_prefetch_delete_nothing(api, link, headers):
    assert api.request("HEAD", f"{LINK}?token={link}", headers=headers).status == 200
    assert users() == 1


def test_button_of_the_page_deletes_the_account(api, link):
    options = {"content_type": FORM, "headers": {**BROWSER, "Sec-Fetch-Site": "same-origin"}}

    answer = api.request("POST", LINK, f"token={link}", **options)

    assert b"Your account was deleted" in answer.response.content
    assert users() == 0


def test_form_of_another_site_gets_the_page_again(api, link):
    options = {"content_type": FORM, "headers": {**BROWSER, "Sec-Fetch-Site": "cross-site"}}

    answer = api.request("POST", LINK, f"token={link}", **options)

    assert b'method="post"' in answer.response.content
    assert users() == 1


def test_refused_link_shows_a_page_with_the_reason(api, link):
    promote(ANN)
    options = {"content_type": FORM, "headers": {**BROWSER, "Sec-Fetch-Site": "same-origin"}}

    answer = api.request("POST", LINK, f"token={link}", **options)

    assert b"last active super admin" in answer.response.content
    assert users() == 1
