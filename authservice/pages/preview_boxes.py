"""What the preview shows of an account: the boxes of its sections, with made-up values."""

from __future__ import annotations

from dataclasses import replace

from django.utils.html import format_html

from authservice.pages import provider_marks
from authservice.pages.account_section import Action, Box, Row

EMAIL = "ann@example.com"


def button(label: str, about: str = "", *, main: bool = False, danger: bool = False) -> Action:
    return Action(label=label, about=about, url="#", main=main, danger=danger)


_PROFILE = [
    Box(
        title="About you",
        rows=[
            Row(label="Name", value="Ann Plum", actions=[button("Change", "name")]),
            Row(label="E-mail", value=EMAIL, tag="Confirmed", tone="good"),
            Row(
                label="Phone number",
                value="+49 170 1234567",
                tag="Not confirmed",
                tone="warn",
                actions=[button("Confirm", "phone number", main=True)],
            ),
        ],
    ),
    Box(
        title="Delete account",
        text="Deletes your account and everything in it, for good.",
        actions=[button("Delete account", danger=True)],
    ),
]
_APP = Row(
    label="Authenticator app",
    value="Set up",
    actions=[button("Remove", "authenticator app", danger=True)],
)
_NO_APP = Row(
    label="Authenticator app",
    value="Not set up",
    hint="With backup codes, in case you lose your phone.",
    actions=[button("Set it up", "authenticator app")],
)
_FIRST_APP = replace(_NO_APP, actions=[button("Set it up", "authenticator app", main=True)])
_FEW_CODES = Row(
    label="Backup codes",
    value="2 left",
    tag="Few left",
    tone="warn",
    actions=[button("Make new codes")],
)
_UNUSED = Row(label="Passkeys", value="Not used", hint="Edit a passkey to use it here too.")
_FACTOR_BY_PASSKEY = Box(
    title="Two-factor authentication",
    text="A second step after the password.",
    tag="On",
    tone="good",
    rows=[_NO_APP, Row(label="Passkeys", value="1 passkey")],
)
# A user sees exactly one of these boxes.
_FACTORS = [
    replace(_FACTOR_BY_PASSKEY, tag="Off", tone="warn", rows=[_FIRST_APP]),
    replace(
        _FACTOR_BY_PASSKEY,
        text="Your account needs a second step after the password.",
        tag="Off",
        tone="warn",
        rows=[_FIRST_APP, _UNUSED],
    ),
    replace(
        _FACTOR_BY_PASSKEY,
        rows=[
            _APP,
            Row(label="Passkeys", value="2 passkeys"),
            Row(label="Text message", value="Set up"),
            _FEW_CODES,
        ],
    ),
]
_PASSKEYS = Box(
    title="Passkeys",
    rows=[
        Row(
            label=name,
            hint=f"Added 2 days ago · {used}",
            tag="Two-factor" if name == "Blue key" else "",
            tone="good",
            icon="key",
            actions=[button("Edit", name), button("Remove", name, danger=True)],
        )
        for name, used in (
            ("Phone", "Last used 2 hours ago · Backed up"),
            ("Blue key", "Never used"),
        )
    ],
    actions=[button("Add a passkey")],
)
_PROVIDERS = Box(
    title="Other ways to sign in",
    rows=[
        Row(
            label="Google",
            mark=provider_marks.of("google", "Google"),
            tag="Connected",
            tone="good",
            actions=[button("Remove", "Google", danger=True)],
        ),
        Row(
            label="GitHub",
            mark=provider_marks.of("github", "GitHub"),
            hint="Not connected",
            actions=[button("Connect", "GitHub")],
        ),
        Row(label="Acme", mark=provider_marks.of("acme", "Acme"), hint="Not connected"),
    ],
)
_SESSIONS = Box(
    title="Your devices",
    rows=[
        Row(
            label="Firefox on Windows",
            hint="203.0.113.7 · Signed in just now",
            icon="screen",
            tag="This browser",
            tone="good",
        ),
        Row(
            label="Safari on iOS",
            hint="203.0.113.9 · Signed in 2 hours ago",
            icon="phone",
            actions=[button("Sign out", "Safari on iOS", danger=True)],
        ),
    ],
    actions=[button("Sign out everywhere else", danger=True)],
    links=[button("Previous"), button("Next")],
    range="21-22 of 60",
)
_ORGANIZATION = [
    Box(title="Acme", text="acme", actions=[button("Rename")]),
    Box(
        title="Members",
        rows=[
            Row(label="Ann Plum", hint=EMAIL, tag="You", mark=format_html("<b>{}</b>", "A")),
            Row(
                label="Bob Winter",
                hint="bob@example.com",
                tag="Admin",
                mark=format_html("<b>{}</b>", "B"),
                actions=[
                    button("Change role", "Bob Winter"),
                    button("Remove", "Bob Winter", danger=True),
                ],
            ),
        ],
        actions=[button("Invite", main=True)],
    ),
    Box(
        title="Leave or delete",
        actions=[button("Leave", danger=True), button("Delete", danger=True)],
    ),
]
_ACTIVITY = Box(
    title="Latest",
    rows=[
        Row(label="Signed in.", hint="2 hours ago · Firefox on Windows · 203.0.113.7"),
        Row(
            label="Signed in on a new device.",
            hint="6 days ago · Safari on iOS · 203.0.113.9",
            tag="Notice",
            tone="warn",
        ),
    ],
    links=[button("Older")],
    range="1-2 of 30",
)
# The boxes of each state of the preview, by its name.
SECTIONS = {
    "account": _PROFILE,
    "account-empty": [Box(title="Orders", empty="None yet.")],
    "account-sessions": [_SESSIONS],
    "account-organizations": _ORGANIZATION,
    "account-activity": [_ACTIVITY],
    "account-security": [_PASSKEYS, _FACTOR_BY_PASSKEY, _PROVIDERS],
    "account-security-factors": _FACTORS,
}
NOTICES = {"account": "Your name was changed."}
