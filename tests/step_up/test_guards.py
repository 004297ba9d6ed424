"""Which routes ask for a fresh proof, below its level, past its age and right after a weak one."""

from datetime import timedelta
from itertools import combinations, cycle

import pytest
from django.apps import apps
from django.test import RequestFactory

from authservice.core import errors
from authservice.core.api import guarded_routes
from authservice.core.api.guarded_routes import routes_of
from authservice.core.sessions import bearer
from authservice.kernel import clock
from authservice.kernel.levels import ORDER, Record
from authservice.kernel.secret import Secret
from authservice.twofactor.models import Authenticator
from tests.admin_api.people import promote
from tests.step_up.test_step_up import confirm, session_of
from tests.support.client import PASSWORD
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db

PROOFS = {
    "aal1": ("pwd",),
    "aal2": ("pwd", "otp", "mfa"),
    "phr": ("pop", "user", "mfa"),
    "phrh": ("hwk", "user", "mfa"),
}
MINUTES = timedelta(minutes=10)
NOW, OLD = timedelta(0), MINUTES + timedelta(seconds=1)
# What a session may have proven: nothing, one level now or too long ago, and a strong one too long
# ago with a weaker one now.
HISTORIES = [
    (),
    *(((level, age),) for level in ORDER for age in (NOW, OLD)),
    *(((strong, OLD), (weak, NOW)) for weak, strong in combinations(ORDER, 2)),
]
REFUSED = {(401, "STEP_UP_REQUIRED"), (403, "STEP_UP_UNAVAILABLE")}
GET = RequestFactory().get("/")
MODULES = (
    "authservice.audit",
    "authservice.csrf",
    "authservice.magiclink",
    "authservice.notification",
    "authservice.organization",
)
STRICT = {
    "POST /oauth/{}/link": {},
    "DELETE /oauth/{}": {},
    "POST /change-email": {},
    "POST /admin/users": {},
    "PUT /admin/users/{}": {},
    "DELETE /admin/users/{}": {},
    "POST /admin/users/{}/suspend": {},
    "POST /admin/users/{}/reactivate": {},
    "POST /admin/users/{}/logout": {},
    "POST /admin/users/{}/reset-password": {},
}


def with_proofs(person, *events):
    """Let the session of this user have exactly these proofs: levels and how long ago."""
    now, record = clock.utc(), Record()
    for level, ago in events:
        record = record.with_event(PROOFS[level], now - ago)
    session = session_of(person.token)
    type(session).objects.filter(pk=session.pk).update(levels=record.text)


def ask(person, name, body=None):
    method, _, path = name.partition(" /")
    path = path.replace("{}", person.user_id)
    return person.api.request(method, path, body or {}, token=person.token)


def names(guarded):
    return {route.name for route in guarded_routes.routes() if route.action in guarded}


def test_default_guards_no_route_of_the_interface(db):
    assert not guarded_routes.needs()


def test_strict_guards_these_routes(configure):
    configure(STEP_UP={"ROUTES": "strict"})

    assert names(guarded_routes.needs()) == set(STRICT)


def test_every_route_for_signed_in_users_can_be_guarded(enrolled, configure):
    every = {route.name for route in guarded_routes.routes()}
    assert len(every) > 30
    configure(STEP_UP={"FURTHER_ROUTES": {name: {"acr": "phr"} for name in every}})

    assert names(guarded_routes.needs()) == every


@pytest.fixture
def everything(enrolled):
    """The routes of all modules, for a super admin whose session can prove each level."""
    promote(enrolled.email)
    with mounted(*MODULES, login="session"):
        yield enrolled


def guarded_names():
    return sorted({route.name for route in guarded_routes.routes()})


def is_enough(history, needed):
    """The rule, in words of its own: some proof is strong enough and young enough."""
    return any(
        ORDER.index(level) >= ORDER.index(needed) and age <= MINUTES for level, age in history
    )


def test_walk_includes_the_routes_of_every_module(everything):
    found = guarded_names()

    assert len(found) > 60
    for prefix in ("/org/{}/members/{}", "/admin/audit", "/admin/users/{}", "/sessions/{}"):
        assert any(name.endswith(prefix) for name in found), prefix


@pytest.mark.parametrize("needed", ORDER)
def test_guard_of_every_route_decides_by_level_and_age(everything, configure, needed):
    """The full product of routes and histories, by the step of a request that asks the guard."""
    need = {"acr": needed, "max_age": MINUTES}
    configure(STEP_UP={"FURTHER_ROUTES": dict.fromkeys(guarded_names(), need)})
    routes = list(guarded_routes.routes())
    for history in HISTORIES:
        with_proofs(everything, *history)
        caller = live_caller_of(everything)
        passed = {route.name for route in routes if passes(route, caller)}

        assert passed == (set(guarded_names()) if is_enough(history, needed) else set()), history


class Reached:
    """In place of an action behind the guard, which finds it by its function."""

    def __init__(self, action):
        self.__func__, self.__name__ = action, action.__name__

    def __call__(self, **_):
        return "reached"


def live_caller_of(person):
    caller = bearer.identify(Secret(person.token))
    caller.require_live()
    return caller


def passes(route, caller):
    """Whether the view calls the action for this caller. Each refusal is one of a guard."""
    view = route.view()
    view._identify = lambda request: setattr(view, "identity", caller)
    view.public = False
    try:
        return view._act(GET, Reached(route.action)) == "reached"
    except (errors.StepUpRequired, errors.StepUpUnavailable):
        return False


@pytest.mark.parametrize("needed", ORDER)
def test_every_guarded_route_refuses_a_request(everything, configure, needed):
    """The histories take turns, since the test above has all of them for every route."""
    need = {"acr": needed, "max_age": MINUTES}
    configure(STEP_UP={"FURTHER_ROUTES": dict.fromkeys(guarded_names(), need)})
    refused = [history for history in HISTORIES if not is_enough(history, needed)]
    for name, history in zip(guarded_names(), cycle(refused), strict=False):
        with_proofs(everything, *history)
        answer = ask(everything, name)
        assert answer.error in REFUSED, (name, history, answer.body)


# These routes ask by themselves, whatever the settings are.
ALWAYS = {
    "GET /me/export": {},
    "POST /passkeys/options": {},
    "POST /passkeys": {"request_token": "x", "credential": {"id": "x"}},
    "PUT /passkeys/{}": {"second_factor": True},
    "DELETE /passkeys/{}": {},
}


@pytest.mark.parametrize("name", ALWAYS)
def test_route_that_always_asks_refuses_whatever_the_settings_are(enrolled, name):
    """The user has a second factor, so the routes ask for both."""
    Authenticator.objects.update(enabled_at=clock.now() - timedelta(days=1))
    long_ago = timedelta(minutes=20)  # an enrolment may take some minutes more
    old = [((level, long_ago), ("aal1", age)) for level in ORDER[1:] for age in (NOW, long_ago)]
    for history in ((("aal1", NOW),), *old):
        with_proofs(enrolled, *history)
        assert ask(enrolled, name, ALWAYS[name]).error == (401, "STEP_UP_REQUIRED"), history


def test_weak_proof_opens_no_route_that_asks_for_a_strong_one(enrolled, configure):
    configure(STEP_UP={"FURTHER_ROUTES": {"GET /me": {"acr": "aal2", "max_age": 600}}})
    with_proofs(enrolled, ("aal2", timedelta(minutes=11)))
    assert confirm(enrolled, "aal1", password=PASSWORD).status == 200

    refused = enrolled.get("me")

    assert refused.error == (401, "STEP_UP_REQUIRED")
    assert refused.body["data"]["acr_values"] == "aal2"
    assert refused.body["data"]["max_age"] == 600
    assert refused.response.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_user_authentication", acr_values="aal2", max_age="600"'
    )
    assert confirm(enrolled, "aal2", code=enrolled.code()).status == 200
    assert enrolled.get("me").status == 200


def test_guard_reads_the_row_whatever_stateless_check_says(ann, configure):
    need = {"GET /me": {"acr": "aal1", "max_age": 600}}
    configure(STATELESS={"CHECK": "signature"}, STEP_UP={"FURTHER_ROUTES": need})
    assert ann.get("me").status == 200
    ann.post("logout")

    assert ann.get("me").error == (401, "INVALID_TOKEN")


def test_proof_of_any_age_is_enough_without_max_age(ann, configure):
    configure(STEP_UP={"FURTHER_ROUTES": {"GET /me": {"acr": "aal1"}}})
    with_proofs(ann, ("aal1", timedelta(days=20)))

    assert ann.get("me").status == 200


@pytest.mark.parametrize(
    ("body", "guarded"), [({"phone": "+491701234567"}, True), ({"name": "Ann"}, False)]
)
def test_strict_guards_a_changed_number_but_no_name(ann, configure, body, guarded):
    configure(STEP_UP={"ROUTES": "strict"})
    with_proofs(ann, ("aal1", timedelta(minutes=11)))

    answer = ann.api.request("PUT", "profile", body, token=ann.token)

    assert (answer.status == 401) == guarded
    assert answer.status == (401 if guarded else 200)


def test_strict_age_is_a_setting(ann, configure):
    configure(STEP_UP={"ROUTES": "strict", "MAX_AGE": timedelta(minutes=20)})
    with_proofs(ann, ("aal1", timedelta(minutes=11)))

    body = {"phone": "+491701234567"}
    assert ann.api.request("PUT", "profile", body, token=ann.token).status == 200


def test_routes_of_organizations_that_strict_guards():
    with mounted("authservice.organization"):
        routes = routes_of(apps.get_app_config("authservice_organization"))
        views = {route.callback.cls for route in routes}
        strict = {(view.__name__, name) for view in views for name in view.strict_actions}
        in_part = {(view.__name__, name) for view in views for name in view.strict_in_part}

    assert strict == {("Organization", "delete")}
    assert in_part == {
        *(("Member", "change"), ("Member", "remove")),
        *(("Invite", "create"), ("Resend", "resend")),
    }
