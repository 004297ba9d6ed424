"""How an installed module changes what core does, through its slots and nothing else."""

from contextlib import contextmanager, suppress
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import update_last_login
from django.contrib.auth.signals import user_logged_in
from django.db import transaction

from authservice import signals
from authservice.core import revocation, sign_ins
from authservice.core.models import Account, SignIn
from authservice.kernel import modules
from tests import forging
from tests.client import PASSWORD
from tests.contract.shapes import AUTH, fits, is_refusal
from tests.people import the_user, users
from tests.plugs import fillers

pytestmark = pytest.mark.django_db


@pytest.fixture
def install(settings):
    """Install a module of the tests beside the others."""
    fillers.kept.clear()
    fillers.sent.clear()

    def install(name):
        settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, f"tests.plugs.apps.{name}"]

    return install


@contextmanager
def silenced():
    """Within, nobody writes `last_login`."""
    user_logged_in.disconnect(dispatch_uid="update_last_login")
    yield
    user_logged_in.connect(update_last_login, dispatch_uid="update_last_login")


def ids(**which):
    return {str(pk) for pk in SignIn.objects.filter(**which).values_list("pk", flat=True)}


def test_a_slot_nobody_fills_is_empty():
    assert modules.plugs("claims") == ()


def test_a_slot_gives_what_an_installed_module_plugged_in(install):
    install("Claimer")

    assert modules.plugs("claims") == (fillers.claim,)


def test_a_module_that_is_gone_has_left_its_slots(install, settings):
    install("Claimer")
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if "plugs" not in app]

    assert modules.plugs("claims") == ()


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
        assert (users(), Account.objects.count(), SignIn.objects.count()) == (0, 0, 0)

    def test_if_it_raises_the_login_has_not_happened(self, robust, install):
        robust.sign_up()
        install("Refuser")

        robust.post("login", email="ann@example.com", password=PASSWORD)

        assert SignIn.objects.count() == 1

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

        assert SignIn.objects.count() == 1
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
        assert hooked["sid"] == str(SignIn.objects.latest("pk").pk)

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


class TestLoginPolicy:
    """The life of sign-ins as an installed login module has it."""

    @pytest.fixture(autouse=True)
    def _anew(self):
        fillers.policy.__init__()

    def test_it_can_refuse_a_token_that_is_good(self, api, install):
        token = api.sign_up()["access_token"]
        install("Policy")
        fillers.policy.verdict = False

        assert api.get("me", token=token).error == (401, "INVALID_TOKEN")

    def test_it_is_asked_though_the_signature_is_trusted(self, api, install, configure):
        token = api.sign_up()["access_token"]
        configure(STATELESS={"CHECK": "signature"})
        install("Policy")
        fillers.policy.verdict = False

        assert api.post("logout", token=token).error == (401, "INVALID_TOKEN")

    def test_it_can_refuse_a_refresh_token_that_is_good(self, api, install):
        token = api.sign_up()["refresh_token"]
        install("Policy")
        fillers.policy.verdict = False

        answer = api.post("refresh", refresh_token=token)

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")

    def test_where_it_cannot_say_nothing_goes_on(self, api, install):
        tokens = api.sign_up()
        install("Policy")
        fillers.policy.away = True

        asked = api.get("me", token=tokens["access_token"])
        refreshed = api.post("refresh", refresh_token=tokens["refresh_token"])

        assert asked.error == refreshed.error == (503, "SERVICE_UNAVAILABLE")

    def test_it_says_how_long_a_sign_in_lives(self, api, install, clock):
        install("Policy")

        tokens = api.sign_up()

        began = SignIn.objects.get()
        assert began.idle_expires_at - began.created_at == timedelta(minutes=30)
        assert began.expires_at - began.created_at == timedelta(hours=2)
        clock.forward(minutes=29)
        api.post("refresh", refresh_token=tokens["refresh_token"])
        assert SignIn.objects.get().idle_expires_at - began.created_at == timedelta(minutes=59)

    def test_it_is_asked_before_a_sign_in_begins(self, api, install):
        api.sign_up()
        install("Policy")

        user = api.log_in()["user"]

        # Django's receiver has just written the user's row, and holds it.
        assert fillers.policy.told == [(user["id"], True)]

    def test_a_row_that_nobody_wrote_is_not_held(self, api, install):
        api.sign_up()
        install("Policy")

        with silenced():
            user = api.log_in()["user"]

        assert fillers.policy.told == [(user["id"], False)]


@pytest.mark.django_db(transaction=True)
class TestEnds:
    """A login policy hears of every sign-in that ends, and of no other."""

    @pytest.fixture(autouse=True)
    def _anew(self):
        fillers.policy.__init__()

    @pytest.fixture
    def ended(self, api, install):
        """`ended(deed)` gives what the policy is told of by the deed, which gets two sign-ins."""
        api.sign_up()
        several = [api.log_in(), api.log_in()]
        install("Policy")

        def tell(deed):
            fillers.policy.told.clear()
            deed(*several)
            return [{str(pk) for pk in told} for told in fillers.policy.told]

        return tell

    def test_a_logout(self, api, ended):
        told = ended(lambda first, second: api.post("logout", token=first["access_token"]))

        assert told == [ids(end_reason="logout")]

    def test_a_logout_that_came_too_late(self, api, ended):
        assert ended(lambda *_: sign_ins.end(uuid4(), "logout")) == []

    def test_a_replayed_token(self, api, clock, ended):
        def replay(first, second):
            for _ in range(2):
                api.post("refresh", refresh_token=first["refresh_token"])
                clock.forward(minutes=1)

        assert ended(replay) == [ids(end_reason="reuse")]

    def test_a_changed_password(self, api, ended):
        def change(first, second):
            body = {"old_password": PASSWORD, "new_password": "another plum tart"}
            api.request("PUT", "change-password", body, token=first["access_token"])

        assert ended(change) == [ids(end_reason="password changed")]
        assert len(ids(end_reason="password changed")) == 2  # the sign-up and the other login

    def test_a_revocation_of_all(self, ended):
        assert ended(lambda *_: revocation.of([the_user()])) == [ids()]

    def test_a_revocation_of_those_before_a_moment(self, ended):
        def revoke(*_):
            revocation.of([the_user()], before=SignIn.objects.latest("created_at").created_at)

        told = ended(revoke)

        assert told == [ids(end_reason="revoked")]
        assert len(ids(ended_at=None)) == 1

    def test_nothing_that_was_undone(self, ended):
        def undo(*_):
            with suppress(ZeroDivisionError), transaction.atomic():
                revocation.of([the_user()])
                1 / 0  # noqa: B018

        assert ended(undo) == []

    def test_a_policy_that_fails_keeps_no_receiver_from_hearing(
        self, api, ended, heard, monkeypatch
    ):
        left = heard(signals.signed_out)
        monkeypatch.setattr(fillers.policy, "ended", lambda ids: 1 / 0)

        ended(lambda first, second: api.post("logout", token=first["access_token"]))

        assert len(left) == 1


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
