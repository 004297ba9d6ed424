"""The apps declare exactly these actions, and no other action can be recorded."""

import pytest
from django.apps import apps

from authservice.kernel import actions, modules, rules
from authservice.kernel.actions import CRITICAL, INFO, WARNING, Action, named
from authservice.kernel.events import Event
from authservice.kernel.modules import ModuleConfig
from tests.support import declared
from tests.support.mounted import mounted

ACTIONS = declared.actions()

EXPECTED = """
auth.signup auth.login.success auth.login.failed auth.login.challenged auth.logout
auth.token.refreshed auth.token.reuse_detected auth.token.traded auth.password.changed
auth.password.reset_requested
auth.password.reset auth.password.reset_failed auth.password.change_failed
auth.reauthentication.failed auth.code.failed auth.2fa.enabled auth.2fa.disabled auth.2fa.verified
auth.2fa.failed auth.2fa.backup_used auth.2fa.backup_regenerated auth.magiclink.sent
auth.passkey.added auth.passkey.renamed auth.passkey.removed auth.passkey.factor_on
auth.passkey.factor_off security.passkey.cloned security.passkey.counter
auth.oauth.linked auth.oauth.unlinked auth.step_up auth.step_up.failed auth.password.unsafe
security.breach_check.unavailable user.exported
user.profile.updated user.email.changed user.email.verified user.phone.changed user.phone.verified
user.avatar.updated user.username.changed user.deleted user.secured security.account.throttled
security.session.revoked security.one_time_token.revoked security.new_device security.forbidden
admin.user.created admin.user.updated admin.user.deleted admin.user.suspended admin.user.reactivated
admin.user.rights_changed admin.user.unlocked admin.user.exported admin.audit.cleaned
invitation.sent invitation.accepted invitation.declined invitation.cancelled
org.created org.updated org.deleted org.switched org.member.added org.member.removed
org.member.role_changed org.invitation.sent org.invitation.accepted org.invitation.declined
org.invitation.cancelled
"""
WARNINGS = """
auth.login.failed auth.2fa.disabled auth.2fa.failed auth.2fa.backup_used security.account.throttled
security.new_device security.one_time_token.revoked admin.user.deleted admin.user.suspended
admin.user.reactivated admin.user.rights_changed admin.user.unlocked
auth.password.reset_failed auth.password.change_failed auth.reauthentication.failed
auth.code.failed security.forbidden auth.passkey.removed auth.passkey.factor_off
security.passkey.counter auth.step_up.failed auth.password.unsafe
security.breach_check.unavailable user.exported admin.user.exported
"""


def test_actions_are_exactly_these():
    assert sorted(ACTIONS) == sorted(EXPECTED.split())


def test_actions_have_the_expected_severity():
    assert {n for n, action in ACTIONS.items() if action.severity == WARNING} == set(
        WARNINGS.split()
    )
    assert {n for n, action in ACTIONS.items() if action.severity == CRITICAL} == {
        "auth.token.reuse_detected",
        "security.passkey.cloned",
    }


def test_admin_actions_never_have_a_user_as_actor():
    assert [n for n, a in ACTIONS.items() if n.startswith("admin.") and "user" in a.actors] == []


def test_event_has_the_severity_of_its_action():
    assert Event(action="auth.login.failed").severity == WARNING
    assert Event(action="auth.signup").severity == INFO


def test_event_with_an_unknown_action_raises_key_error():
    with pytest.raises(KeyError):
        Event(action="auth.sign_up")


def test_action_prefix_finds_the_actions_below_it():
    assert named("auth.token", ACTIONS) == [
        "auth.token.refreshed",
        "auth.token.reuse_detected",
        "auth.token.traded",
    ]
    assert named("auth.token.traded", ACTIONS) == ["auth.token.traded"]
    assert named("auth.tok", ACTIONS) == []
    assert named("auth.tok*", ACTIONS) == named("auth.token.", ACTIONS)
    assert named("*", ACTIONS) == list(ACTIONS)


def test_actions_that_can_be_recorded_are_those_of_installed_apps():
    installed = [app for app in apps.get_app_configs() if isinstance(app, ModuleConfig)]

    assert set(actions.ACTIONS) == {name for app in installed for name in app.actions}
    assert "auth.2fa.enabled" in actions.ACTIONS
    assert "org.created" not in actions.ACTIONS


def test_actions_of_modules_that_are_not_installed_are_known():
    assert "org.created" not in actions.ACTIONS
    assert modules.known_actions() == ACTIONS


def test_settings_of_the_log_accept_actions_of_modules_that_are_not_installed(settings):
    """A project that removes a module keeps its retention: the log still has the entries."""
    kept = {"RETENTION": {"org.": None, "invitation.": None}, "EXCLUDE": ["org.switched"]}
    settings.AUTHSERVICE = {"AUDIT": kept}

    with mounted("authservice.audit"):
        assert list(rules.violations()) == []


def test_app_of_a_project_adds_an_action_that_no_other_app_has(monkeypatch):
    monkeypatch.setattr(actions, "ACTIONS", dict(actions.ACTIONS))
    paid = {"shop.paid": Action("Paid.", WARNING, when="A user pays.")}

    actions.declare(paid)
    actions.declare(paid)

    assert Event(action="shop.paid").severity == WARNING
    with pytest.raises(ValueError, match=r"shop\.paid"):
        actions.declare({"shop.paid": Action("Paid twice.", when="A user pays.")})
