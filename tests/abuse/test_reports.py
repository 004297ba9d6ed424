"""Error reports show no secret of a request, at whichever statement the database fails."""

from functools import partial
from urllib.parse import urlencode

import pytest

from authservice.core.messages import kinds
from authservice.kernel.http.fields import SecretText
from tests.abuse import owner_requests as owner
from tests.abuse import step_up_requests as step_up
from tests.abuse.provider_requests import (
    callback,
    callback_by_form,
    callback_of_a_new_user,
    linking,
    native_app,
)
from tests.abuse.reporting import shown
from tests.core.login_matrix.world import MODULES, World
from tests.oauth.in_process import SETTINGS
from tests.oauth.in_process import office as acme
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, CommittingApi, prove, verify_path
from tests.support.messenger.post import office
from tests.support.mounted import mounted
from tests.support.routes import endpoints
from tests.twofactor.people import Person, app_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True, scope="module")
def _everything():
    with mounted(*MODULES):
        yield


@pytest.fixture
def world(_everything, db, clock, configure):
    acme.reset()
    form = {**SETTINGS, "FORM_POST": True}
    configure(
        COOKIES={"ENABLED": True},
        THROTTLE={"ENABLED": False},
        OAUTH={
            "PROVIDERS": {"acme": SETTINGS, "acme-form": form},
            "STORE_PROVIDER_TOKENS": True,
        },
    )
    office.jobs.clear()
    api = CommittingApi(raising=False)
    world = World(api, office, clock, configure, Person(api))
    body = {"phone": PHONE, "password": PASSWORD}  # the password, so that the number may reset it
    assert api.request("PUT", "profile", body, token=world.ann.token).status == 200
    prove(ANN, PHONE)
    office.jobs.clear()
    return world


def login(world):
    return {PASSWORD}, partial(world.api.post, "login", email=ANN, password=PASSWORD)


def wrong_password(world):
    return {NEW}, partial(world.api.post, "login", email=ANN, password=NEW)


def signup(world):
    body = {"email": "new@example.com", "password": NEW, "phone_number": "+4930123458"}
    return {NEW}, partial(world.api.post, "signup", **body)


def refresh(world):
    token = world.api.log_in(ANN)["refresh_token"]
    return {token}, partial(world.api.post, "refresh", refresh_token=token)


def logout(world):
    return {world.ann.token}, partial(world.api.post, "logout", token=world.ann.token)


def me(world):
    return {world.ann.token}, partial(world.api.get, "me", token=world.ann.token)


def reset_by_link(world):
    token = world.flows.reset_token()
    return {token, NEW}, partial(world.flows.reset, token)


def reset_by_code(world):
    code = world.flows.reset_code()
    return {code, NEW}, partial(world.flows.reset_by_code, code)


def verify_email(world):
    world.api.sign_up("bob@example.com")
    token = world.flows.email_token("bob@example.com")
    return {token}, partial(world.api.get, verify_path(token, "bob@example.com"))


def verify_email_by_button(world):
    world.api.sign_up("bob@example.com")
    token = world.flows.email_token("bob@example.com")
    form = urlencode({"token": token, "email": "bob@example.com", "decision": "confirm"})
    options = {"content_type": "application/x-www-form-urlencoded"}
    return {token}, partial(world.api.request, "POST", "verify-email", form, **options)


def secure_account(world):
    body = {"phone": "+4930123459"}
    assert world.api.request("PUT", "profile", body, token=world.ann.token).status == 200
    token = office.token(kinds.PHONE_CHANGED)
    # As a whole body, since the argument `token` is the access token of the client.
    return {token}, partial(world.api.request, "POST", "account/secure", {"token": token})


def verify_phone(world):
    world.api.sign_up("bob@example.com", phone_number="+4930123460")
    code = world.flows.phone_code("+4930123460")
    return {code}, partial(world.flows.verify_phone, code, "+4930123460")


def magic_link(world):
    token = world.magic.mailed().token
    return {token}, partial(world.magic.follow, token)


def magic_link_button(world):
    token = world.magic.mailed().token
    return {token}, partial(world.magic.submit, token)


def magic_code(world):
    code = world.magic.mailed().code
    return {code}, partial(world.magic.type, code)


def set_up_factor(world):
    body = {"password": PASSWORD}
    return {world.ann.token}, partial(world.ann.post, "2fa/setup", **body)


def enable_factor(world):
    world.ann.set_up()
    code = world.ann.code()
    return {code, world.ann.token}, partial(world.ann.post, "2fa/verify", code=code)


def with_factor(path, world):
    world.ann.enrol()
    world.clock.forward(seconds=30)
    code = world.ann.code()
    return {code}, partial(world.ann.post, path, code=code)


def second_step(world):
    world.ann.enrol()
    world.clock.forward(seconds=30)
    code, token = world.ann.code(), world.ann.temp_token()
    body = {"temp_token": token, "code": code, "remember_device": True}
    return {code, token}, partial(world.api.post, "2fa/verify-login", **body)


def backup_code(world):
    world.ann.enrol()
    code, token = world.ann.backup_codes[0], world.ann.temp_token()
    body = {"temp_token": token, "code": code}
    return {code, token}, partial(world.api.post, "2fa/verify-login", **body)


def required_set_up(world):
    world.configure(TWOFACTOR={"REQUIRED": "everybody"})
    token = world.ann.temp_token()
    return {token}, partial(world.api.post, "2fa/setup-login", temp_token=token)


def required_enrolment(world):
    token = required_set_up(world)[0].pop()
    made = world.api.post("2fa/setup-login", temp_token=token).data
    code = app_of(made["qr_url"]).now()
    body = {"temp_token": token, "code": code}
    return {code, token}, partial(world.api.post, "2fa/verify-login", **body)


CALLBACK = "oauth/<str:provider>/callback"


def accept_invitation(world):
    token = world.invites.mailed(ANN)
    return {token}, partial(world.invites.accept, token)


def accept_invitation_as_new(world):
    token = world.invites.mailed("new@example.com")
    return {token, PASSWORD}, partial(world.invites.accept, token, name="New", password=PASSWORD)


def decline_invitation(world):
    token = world.invites.mailed(ANN)
    return {token}, partial(world.invites.decline, token)


REQUESTS = {
    CALLBACK: (callback, callback_by_form, callback_of_a_new_user),
    "oauth/<str:provider>/link": (linking,),
    "oauth/<str:provider>/token": (native_app,),
    "login": (login, wrong_password),
    "signup": (signup,),
    "refresh": (refresh,),
    "logout": (logout,),
    "me": (me, owner.delete_me),
    "me/delete": (owner.post_delete_me,),
    "account/delete": (owner.shown_deletion, owner.deletion_by_link),
    "change-password": (owner.change_password,),
    "change-email": (owner.change_email,),
    "change-email/confirm": (owner.shown_email_change, owner.confirmed_email_change),
    "change-username": (owner.change_username,),
    "profile": (owner.profile,),
    "reset-password": (reset_by_link, reset_by_code),
    "verify-email": (verify_email, verify_email_by_button),
    "account/secure": (secure_account,),
    "verify-phone": (verify_phone,),
    "magic-link/verify": (magic_link, magic_link_button),
    "magic-link/verify-code": (magic_code,),
    "step-up/verify": (step_up.by_password, step_up.by_code, step_up.by_passkey),
    "passkeys": (step_up.new_passkey,),
    "passkeys/login": (step_up.passkey_login,),
    "2fa/setup": (set_up_factor,),
    "2fa/verify": (enable_factor,),
    "2fa/disable": (partial(with_factor, "2fa/disable"),),
    "2fa/backup-codes": (partial(with_factor, "2fa/backup-codes"),),
    "2fa/verify-login": (second_step, backup_code, required_enrolment),
    "2fa/setup-login": (required_set_up,),
    "invitations/accept": (accept_invitation, accept_invitation_as_new),
    "invitations/decline": (decline_invitation,),
}


@pytest.mark.parametrize(
    "prepare", [prepare for prepares in REQUESTS.values() for prepare in prepares]
)
def test_report_of_a_failed_statement_shows_no_secret(world, settings, monkeypatch, prepare):
    settings.DEBUG = True  # hides fewer values
    secrets, request = prepare(world)

    failures, leaked = shown(request, secrets, monkeypatch)

    assert failures > 0
    assert leaked == set()


@pytest.mark.parametrize(
    "name",
    [
        "RAW_URI",  # gunicorn
        "REQUEST_URI",  # uWSGI, mod_wsgi
        "HTTP_X_ORIGINAL_URI",  # nginx
        "HTTP_REFERER",
        "REDIRECT_QUERY_STRING",  # Apache
        "HTTP_X_SHOP_CSRF",  # CSRF.HEADER_NAME = "X-Shop-CSRF"
    ],
)
def test_report_shows_no_token_of_an_address_that_a_server_or_browser_adds(
    world, settings, monkeypatch, name
):
    settings.DEBUG = True
    token = world.magic.mailed().token
    query = f"token={token}" if name.endswith("QUERY_STRING") else f"/auth/x?a=b&token={token}"
    request = partial(world.api.request, "GET", f"magic-link/verify?token={token}")

    failures, leaked = shown(partial(request, **{name: query}), {token}, monkeypatch)

    assert failures > 0
    assert leaked == set()


def takes_secrets(operation):
    schemas = [schema for schema in (operation.body, operation.query) if schema]
    return any(
        isinstance(field, SecretText) for schema in schemas for field in schema().fields.values()
    )


def test_every_route_that_takes_a_secret_is_tested():
    operations = {
        path: getattr(view.cls, action).operation
        for path, view in endpoints()
        for action in view.actions.values()
    }
    with_secrets = {path for path, operation in operations.items() if takes_secrets(operation)}

    assert with_secrets <= set(REQUESTS)
