"""Installed modules change the behaviour of core only through its slots."""

import re

import pytest
from django.apps import AppConfig
from django.contrib.auth import get_user_model

from authservice.core.models import Account, Session
from authservice.kernel import modules
from authservice.kernel.interfaces import RequestGuard, SecondFactor, SessionData
from tests.contract.shapes import AUTH, fits, is_refusal
from tests.support import forging
from tests.support.client import PASSWORD
from tests.support.documented import Page
from tests.support.modules import fillers
from tests.support.mounted import mounted
from tests.support.people import users

pytestmark = pytest.mark.django_db


def test_slot_without_a_module_is_empty():
    assert modules.plugs(SessionData) == ()


def test_slot_returns_what_an_installed_module_registered(install):
    install("Claims")

    assert modules.plugs(SessionData) == (fillers.claims,)


@pytest.mark.parametrize("app", ["accounts", "accounts.apps.AccountsConfig"])
def test_documented_app_fills_a_slot_however_it_is_installed(app, api, tmp_path, monkeypatch):
    monkeypatch.setattr(get_user_model(), "plan", "gold", raising=False)
    api.sign_up()

    with Page("public").app("accounts", tmp_path), mounted(app):
        assert api.log_in()["data"] == {"plan": "gold"}


def test_app_with_two_configurations_has_the_one_that_is_the_default(tmp_path, monkeypatch):
    """As Django says, which the class that both inherit from must not change."""
    (tmp_path / "stalls").mkdir()
    (tmp_path / "stalls" / "apps.py").write_text(
        "from authservice.kernel.modules import ModuleConfig\n"
        "class Stalls(ModuleConfig):\n    name, default = 'stalls', True\n"
        "class Other(ModuleConfig):\n    name = 'stalls'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert type(AppConfig.create("stalls")).__name__ == "Stalls"


def test_slot_of_an_uninstalled_module_is_empty(install, settings):
    install("Claims")
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if "Claims" not in app]

    assert modules.plugs(SessionData) == ()


def test_plugged_value_is_restored_after_a_nested_one():
    with modules.plugged("session_data", "outer"):
        with modules.plugged("session_data", "inner"):
            within = modules.plugs(SessionData)
        after = modules.plugs(SessionData)

    assert (within, after, modules.plugs(SessionData)) == (("inner",), ("outer",), ())


def test_slot_with_an_unknown_name_is_an_error():
    with pytest.raises(KeyError):
        modules.plugs("session_dates")


@pytest.mark.django_db(transaction=True)
class TestListener:
    """No action is done without its entry."""

    def test_listener_receives_a_signup(self, api, install):
        install("RecordingListener")

        api.sign_up()

        assert fillers.recorded == ["auth.signup"]

    def test_listener_receives_every_public_action(self, api, install):
        install("RecordingListener")
        tokens = api.sign_up()
        tokens = api.post("refresh", refresh_token=tokens["refresh_token"]).data
        api.post("login", email="ann@example.com", password="wrong")
        api.log_in()
        api.post("logout", token=tokens["access_token"])

        assert fillers.recorded == [
            "auth.signup",
            "auth.token.refreshed",
            "auth.login.failed",
            "security.new_device",
            "auth.login.success",
            "auth.logout",
        ]

    def test_listener_that_raises_undoes_the_signup(self, robust, install):
        install("FailingListener")

        answer = robust.post("signup", email="ann@example.com", password=PASSWORD)

        assert is_refusal(answer, 500, "INTERNAL_ERROR")
        assert (users(), Account.objects.count(), Session.objects.count()) == (0, 0, 0)

    def test_listener_that_raises_undoes_the_login(self, robust, install):
        robust.sign_up()
        install("FailingListener")

        robust.post("login", email="ann@example.com", password=PASSWORD)

        assert Session.objects.count() == 1

    def test_listener_that_raises_undoes_the_logout(self, robust, install):
        token = robust.sign_up()["access_token"]
        install("FailingListener")

        assert robust.post("logout", token=token).status == 500
        assert robust.get("me", token=token).status == 200

    def test_listener_that_raises_undoes_the_refresh(self, robust, install, settings):
        token = robust.sign_up()["refresh_token"]
        install("FailingListener")
        assert robust.post("refresh", refresh_token=token).status == 500

        settings.INSTALLED_APPS = settings.INSTALLED_APPS[:-1]

        assert robust.post("refresh", refresh_token=token).status == 200


class TestGate:
    @pytest.fixture(autouse=True)
    def _gate(self, api, install):
        api.sign_up()
        install("Gate")

    def log_in(self, api):
        headers = {"User-Agent": "Browser"}
        return api.post("login", email="ann@example.com", password=PASSWORD, headers=headers)

    def test_gate_returns_a_challenge_instead_of_tokens(self, api):
        answer = self.log_in(api)

        assert answer.status == 200
        assert fits(
            answer.data,
            {
                "status": re.compile("challenge"),
                "user": {"id": str, "email": str},
                "challenges": list,
                "message": str,
            },
        )
        (challenge,) = answer.data["challenges"]
        details = challenge["data"]
        assert (challenge["type"], details["requires_2fa"]) == ("2fa", True)
        assert details["message"] == "password by pwd with Browser"

    def test_gate_challenge_starts_no_session_and_issues_no_device_token(self, api):
        answer = self.log_in(api)

        assert Session.objects.count() == 1
        assert "X-Device-Token" not in answer.headers

    def test_gate_challenge_refunds_the_attempt(self, api):
        assert {self.log_in(api).status for _ in range(12)} == {200}

    def test_gate_is_not_reached_with_a_wrong_password(self, api):
        answer = api.post("login", email="ann@example.com", password="wrong")

        assert answer.error == (401, "INVALID_CREDENTIALS")

    def test_gate_can_challenge_a_signup(self, api):
        answer = api.post("signup", email="ben@example.com", password=PASSWORD)

        assert "challenges" in answer.data
        assert "access_token" not in answer.data


class TestClaims:
    def test_claims_of_a_module_are_added(self, api, install):
        install("Claims")

        assert forging.claims(api.sign_up()["access_token"])["org_id"] == "7"

    def test_claims_of_a_module_override_none(self, api, install):
        install("Claims")
        signed_up = api.sign_up()

        assert api.get("me", token=signed_up["access_token"]).data == signed_up["user"]
        claims = forging.claims(signed_up["access_token"])
        assert (claims["sub"], claims["ver"]) == (signed_up["user"]["id"], 0)

    def test_claims_of_the_hosts_hook_are_added(self, api, configure):
        configure(CORE={"CLAIMS_HOOK": "tests.support.modules.fillers.hook"})

        assert forging.claims(api.sign_up()["access_token"])["plan"] == "gold"

    def test_claims_of_the_hosts_hook_override_none(self, api, configure):
        plain = forging.claims(api.sign_up()["access_token"])
        configure(CORE={"CLAIMS_HOOK": "tests.support.modules.fillers.hook"})
        hooked = forging.claims(api.log_in()["access_token"])

        kept = ("sub", "iss", "aud", "typ", "amr", "ver")
        assert {name: hooked[name] for name in kept} == {name: plain[name] for name in kept}
        assert hooked["sid"] == str(Session.objects.latest("pk").pk)

    def test_claims_of_the_hosts_hook_are_computed_again_at_refresh(self, api, configure):
        token = api.sign_up()["refresh_token"]
        configure(CORE={"CLAIMS_HOOK": "tests.support.modules.fillers.hook"})

        refreshed = api.post("refresh", refresh_token=token).data

        assert forging.claims(refreshed["access_token"])["plan"] == "gold"


def test_login_extras_are_in_the_data_of_the_response(api, install):
    install("Extras")

    assert fits(api.sign_up(), {**AUTH, "data": {"organizations": list}})


def test_guard_runs_before_the_body_is_read(api, install):
    install("Guard")

    assert api.request("POST", "login", b"nonsense").error == (403, "FORBIDDEN")


def test_guard_that_accepts_a_request_changes_nothing(api, install):
    api.sign_up()
    install("Guard")

    assert api.log_in(headers={"X-Guard": "pass"})


def test_guard_does_not_run_for_a_request_that_changes_nothing(api, install):
    token = api.sign_up()["access_token"]
    install("Guard")

    assert api.get("me", token=token).status == 200


def test_signup_requests_the_verification_mail_after_commit(
    api, install, django_capture_on_commit_callbacks
):
    install("Messenger")

    with django_capture_on_commit_callbacks(execute=True):
        api.sign_up(headers={"X-Request-ID": "trace-1"})
        before_commit = list(fillers.sent)

    (message,) = fillers.sent
    assert before_commit == []
    assert (message.kind, message.target, message.request_id) == (
        "verify-email",
        "ann@example.com",
        "trace-1",
    )


def test_refused_signup_requests_no_mail(api, install, django_capture_on_commit_callbacks):
    api.sign_up()
    install("Messenger")

    with django_capture_on_commit_callbacks(execute=True):
        api.post("signup", email="ann@example.com", password=PASSWORD)

    assert fillers.sent == []


@pytest.mark.parametrize(
    "call",
    [
        lambda: SecondFactor().ask(None),
        lambda: SecondFactor().is_enabled(None),
        lambda: RequestGuard().check(None, None, bearer=False),
    ],
    ids=["ask", "is_enabled", "check"],
)
def test_filler_without_the_method_that_refuses_lets_nothing_pass(call):
    """Servers run no system checks, which report a misspelled name."""
    with pytest.raises(NotImplementedError):
        call()
