"""The table of actions holds every one there is, and nothing else can be told of."""

import pytest

from authservice.kernel.actions import ACTIONS, CRITICAL, INFO, WARNING, named
from authservice.kernel.events import Event

WANTED = """
auth.signup auth.login.success auth.login.failed auth.login.challenged auth.logout
auth.token.refreshed auth.token.reuse_detected auth.password.changed auth.password.reset_requested
auth.password.reset auth.password.reset_failed auth.password.change_failed
auth.reauthentication.failed auth.code.failed auth.2fa.enabled auth.2fa.disabled auth.2fa.verified
auth.2fa.failed auth.2fa.backup_used auth.2fa.backup_regenerated auth.magiclink.sent
auth.oauth.linked auth.oauth.unlinked
user.profile.updated user.email.changed user.email.verified user.phone.changed user.phone.verified
user.avatar.updated user.username.changed user.deleted user.secured security.account.throttled
security.session.revoked security.new_device security.forbidden admin.user.created
admin.user.updated admin.user.deleted admin.user.suspended admin.user.reactivated
admin.user.rights_changed admin.audit.cleaned
invitation.sent invitation.accepted invitation.declined invitation.cancelled
org.created org.updated org.deleted org.switched org.member.added org.member.removed
org.member.role_changed org.invitation.sent org.invitation.accepted org.invitation.declined
org.invitation.cancelled
"""
GRAVE = """
auth.login.failed auth.2fa.disabled auth.2fa.failed auth.2fa.backup_used security.account.throttled
security.new_device admin.user.deleted admin.user.suspended admin.user.reactivated
admin.user.rights_changed
auth.password.reset_failed auth.password.change_failed auth.reauthentication.failed
auth.code.failed security.forbidden
"""


def test_every_action_is_there():
    assert list(ACTIONS) == WANTED.split()


def test_each_is_as_grave_as_it_should_be():
    assert {n for n, action in ACTIONS.items() if action.severity == WARNING} == set(GRAVE.split())
    assert [n for n, action in ACTIONS.items() if action.severity == CRITICAL] == [
        "auth.token.reuse_detected"
    ]


def test_what_staff_do_is_never_told_of_as_done_by_a_user():
    assert [n for n, a in ACTIONS.items() if n.startswith("admin.") and "user" in a.actors] == []


def test_an_event_is_as_grave_as_its_action():
    assert Event(action="auth.login.failed").severity == WARNING
    assert Event(action="auth.signup").severity == INFO


def test_nothing_else_can_be_told_of():
    with pytest.raises(KeyError):
        Event(action="auth.sign_up")


def test_a_name_above_finds_what_is_below_it():
    assert named("org.member") == [
        "org.member.added",
        "org.member.removed",
        "org.member.role_changed",
    ]
    assert named("org.member.added") == ["org.member.added"]
    assert named("org.mem") == []
    assert named("org.mem*") == named("org.member.")
    assert named("*") == list(ACTIONS)
