"""How an installed module changes what core does, through its slots and nothing else."""

import pytest

from authservice.core.models import Account, Session
from authservice.kernel import modules
from tests import forging
from tests.client import PASSWORD
from tests.contract.shapes import AUTH, fits, is_refusal
from tests.people import users
from tests.plugs import fillers

pytestmark = pytest.mark.django_db


def test_a_slot_nobody_fills_is_empty():
    assert modules.plugs("claims") == ()


def test_a_slot_gives_what_an_installed_module_plugged_in(install):
    install("Claimer")

    assert modules.plugs("claims") == (fillers.claim,)


def test_a_module_that_is_gone_has_left_its_slots(install, settings):
    install("Claimer")
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if "plugs" not in app]

    assert modules.plugs("claims") == ()


def test_what_a_test_plugged_in_is_back_after_a_plug_within_it():
    with modules.plugged("claims", "outer"):
        with modules.plugged("claims", "inner"):
            within = modules.plugs("claims")
        after = modules.plugs("claims")

    assert (within, after, modules.plugs("claims")) == (("inner",), ("outer",), ())


@pytest.mark.django_db(transaction=True)
class TestListener:
    """No deed without its entry."""

    def test_a_signup_is_heard(self, api, install):
        install("Keeper")

        api.sign_up()

        assert fillers.kept == ["auth.signup"]

    def test_every_public_deed_is_heard(self, api, install):
        install("Keeper")
        tokens = api.sign_up()
        tokens = api.post("refresh", refresh_token=tokens["refresh_token"]).data
        api.post("login", email="ann@example.com", password="wrong")
        api.log_in()
        api.post("logout", token=tokens["access_token"])

        assert fillers.kept == [
            "auth.signup",
            "auth.token.refreshed",
            "auth.login.failed",
            "security.new_device",
            "auth.login.success",
            "auth.logout",
        ]

    def test_if_it_raises_the_signup_has_not_happened(self, robust, install):
        install("Refuser")

        answer = robust.post("signup", email="ann@example.com", password=PASSWORD)

        assert is_refusal(answer, 500, "INTERNAL_ERROR")
        assert (users(), Account.objects.count(), Session.objects.count()) == (0, 0, 0)

    def test_if_it_raises_the_login_has_not_happened(self, robust, install):
        robust.sign_up()
        install("Refuser")

        robust.post("login", email="ann@example.com", password=PASSWORD)

        assert Session.objects.count() == 1

    def test_if_it_raises_the_logout_has_not_happened(self, robust, install):
        token = robust.sign_up()["access_token"]
        install("Refuser")

        assert robust.post("logout", token=token).status == 500
        assert robust.get("me", token=token).status == 200

    def test_if_it_raises_the_refresh_has_not_happened(self, robust, install, settings):
        token = robust.sign_up()["refresh_token"]
        install("Refuser")
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

    def test_a_challenge_is_answered_instead_of_tokens(self, api):
        answer = self.log_in(api)

        assert answer.status == 200
        assert fits(
            answer.data,
            {"user": {"id": str, "email": str}, "challenges": list, "message": str},
        )
        (challenge,) = answer.data["challenges"]
        told = challenge["data"]
        assert (challenge["type"], told["requires_2fa"]) == ("2fa", True)
        assert told["message"] == "password by pwd with Browser"

    def test_a_challenge_begins_no_sign_in_and_hands_out_no_device(self, api):
        answer = self.log_in(api)

        assert Session.objects.count() == 1
        assert "X-Device-Token" not in answer.headers

    def test_a_challenged_login_gives_its_count_back(self, api):
        assert {self.log_in(api).status for _ in range(12)} == {200}

    def test_a_wrong_password_is_not_challenged(self, api):
        answer = api.post("login", email="ann@example.com", password="wrong")

        assert answer.error == (401, "INVALID_CREDENTIALS")

    def test_a_signup_can_be_challenged_too(self, api):
        answer = api.post("signup", email="ben@example.com", password=PASSWORD)

        assert "challenges" in answer.data
        assert "access_token" not in answer.data


class TestClaims:
    def test_a_module_adds_claims(self, api, install):
        install("Claimer")

        assert forging.claims(api.sign_up()["access_token"])["org_id"] == "7"

    def test_a_module_overrides_none(self, api, install):
        install("Claimer")
        signed_up = api.sign_up()

        assert api.get("me", token=signed_up["access_token"]).data == signed_up["user"]
        said = forging.claims(signed_up["access_token"])
        assert (said["sub"], said["ver"]) == (signed_up["user"]["id"], 0)

    def test_the_hosts_hook_adds_claims(self, api, configure):
        configure(CORE={"CLAIMS_HOOK": "tests.plugs.fillers.hook"})

        assert forging.claims(api.sign_up()["access_token"])["plan"] == "gold"

    def test_the_hosts_hook_overrides_none(self, api, configure):
        plain = forging.claims(api.sign_up()["access_token"])
        configure(CORE={"CLAIMS_HOOK": "tests.plugs.fillers.hook"})
        hooked = forging.claims(api.log_in()["access_token"])

        kept = ("sub", "iss", "aud", "typ", "amr", "ver")
        assert {name: hooked[name] for name in kept} == {name: plain[name] for name in kept}
        assert hooked["sid"] == str(Session.objects.latest("pk").pk)

    def test_the_hosts_hook_is_asked_again_at_refresh(self, api, configure):
        token = api.sign_up()["refresh_token"]
        configure(CORE={"CLAIMS_HOOK": "tests.plugs.fillers.hook"})

        refreshed = api.post("refresh", refresh_token=token).data

        assert forging.claims(refreshed["access_token"])["plan"] == "gold"


def test_login_extras_stand_in_data_data(api, install):
    install("Extras")

    assert fits(api.sign_up(), {**AUTH, "data": {"organizations": list}})


def test_a_guard_is_asked_before_the_body_is_read(api, install):
    install("Guard")

    assert api.request("POST", "login", b"nonsense").error == (403, "FORBIDDEN")


def test_a_guard_that_lets_pass_changes_nothing(api, install):
    api.sign_up()
    install("Guard")

    assert api.log_in(headers={"X-Guard": "pass"})


def test_a_guard_is_not_asked_where_nothing_changes(api, install):
    token = api.sign_up()["access_token"]
    install("Guard")

    assert api.get("me", token=token).status == 200


def test_a_signup_asks_for_the_verification_mail_once_it_is_committed(
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


def test_a_refused_signup_asks_for_no_mail(api, install, django_capture_on_commit_callbacks):
    api.sign_up()
    install("Messenger")

    with django_capture_on_commit_callbacks(execute=True):
        api.post("signup", email="ann@example.com", password=PASSWORD)

    assert fillers.sent == []
