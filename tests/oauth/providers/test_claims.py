"""Claims in every JSON type and spelling: the optional ones never refuse a login."""

import hashlib
import json

import jwt
import pytest

from authservice.oauth import provider_settings
from authservice.oauth.profiles import cleaned
from authservice.oauth.provider import TokenExchangeFailed, UserInfoFailed
from tests.oauth.providers.conftest import NONCE, new_flow
from tests.oauth.providers.standin import CLIENT_ID, CLIENT_SECRET, KEY, KID
from tests.oauth.providers.test_id_tokens import OTHER
from tests.oauth.servers import parameters_of

ADDRESS = "ann@example.com"
TENANT = "9188040d-6c67-4b5f-a2a0-f3e4c1d7b111"
# One value of each JSON type, and what programs write for "nothing".
JUNK = [None, "", "null", True, False, 0, 1, -1.5, [], [None], [1], {}, {"a": 1}, "x" * 5000, "\n"]
TRUE = [True, "true", "True", "TRUE", 1, "1"]
NOT_TRUE = [False, "false", 0, "0", None, "", "yes", 2, 1.5, [], [True], {"a": True}, "truee"]

# The claims of a user of each provider who has everything: where they are, and which they are.
OPENID = {
    "sub": "ann",
    "email": ADDRESS,
    "email_verified": True,
    "name": "Ann Lee",
    "given_name": "Ann",
    "family_name": "Lee",
    "picture": "https://example.com/ann.png",
}
USERS = {
    "google": (OPENID, {"sub": "ann"}),
    "gitlab": (OPENID, {"sub": "ann"}),
    "apple": (OPENID, {"sub": "ann"}),
    "slack": ({**OPENID, "https://slack.com/team_id": "T1"}, {"sub": "ann"}),
    "sso": (OPENID, {"sub": "ann"}),
    "linkedin": (None, OPENID),
    "discord": (
        None,
        {
            "id": "7",
            "email": ADDRESS,
            "verified": True,
            "global_name": "Ann",
            "username": "ann",
            "avatar": "8342729096ea3675442027381ff50dfe",
        },
    ),
    "facebook": (
        None,
        {
            "id": "7",
            "name": "Ann Lee",
            "first_name": "Ann",
            "last_name": "Lee",
            "email": ADDRESS,
            "picture": {"data": {"url": "https://example.com/ann.png"}},
        },
    ),
    "microsoft": (
        {"sub": "s", "email": ADDRESS, "xms_edov": True, "tid": TENANT},
        {"id": "7", "displayName": "Ann", "givenName": "Ann", "surname": "Lee", "mail": ADDRESS},
    ),
    "github": (
        None,
        {"id": 7, "name": "Ann Lee", "avatar_url": "https://example.com/ann.png", "login": "ann"},
    ),
}
# Without them nobody knows who the user is, or whose token it is.
REQUIRED = {"sub", "id", "tid", "https://slack.com/team_id"}
FLAGS = {
    "google": "email_verified",
    "gitlab": "email_verified",
    "apple": "email_verified",
    "slack": "email_verified",
    "sso": "email_verified",
    "linkedin": "email_verified",
    "discord": "verified",
    "microsoft": "xms_edov",
}
OPTIONAL = [
    pytest.param(name, part, claim, id=f"{name}-{claim}")
    for name, parts in USERS.items()
    for part, claims in enumerate(parts)
    for claim in (claims or {})
    if claim not in REQUIRED
]


@pytest.fixture
def log_in_as(standin, named, provider, log_in, monkeypatch):
    """`log_in_as("google", (claims, user info))`: the profile."""
    # Apple's secret is another one each time.
    monkeypatch.setattr(standin, "_credentials", lambda *_: (CLIENT_ID, CLIENT_SECRET))

    def go(name, parts, **settings):
        claims, user = parts
        standin.claims = claims
        if name == "microsoft":
            standin.claims = {**claims, "iss": f"{standin.url}/{claims['tid']}/v2.0"}
        standin.answers["/user"] = user
        standin.answers.setdefault(
            "/user/emails", [{"email": ADDRESS, "verified": True, "primary": True}]
        )
        if name == "apple":
            settings["USERINFO_URL"] = f"{standin.url}/user"
        if name == "sso":
            return log_in(provider("sso", **standin.openid_settings(**settings))).profile
        return log_in(named(name, **settings)).profile

    return go


def changed(parts, part, claim, value):
    both = [dict(each) if each is not None else None for each in parts]
    both[part][claim] = value
    return both


def test_every_named_provider_is_tried():
    assert set(USERS) == {*provider_settings.BUILT_IN, "sso"}


@pytest.mark.parametrize(("name", "part", "claim"), OPTIONAL)
def test_unreadable_optional_claim_refuses_no_login(log_in_as, name, part, claim):
    whole = log_in_as(name, USERS[name])
    for value in JUNK:
        profile = log_in_as(name, changed(USERS[name], part, claim, value))
        profile = cleaned(profile, name)

        assert profile.subject == whole.subject
        for text in (profile.email, profile.name, profile.first_name, profile.avatar):
            assert isinstance(text, str)
        assert not profile.email_verified or profile.email == ADDRESS


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize(
    ("values", "verified"), [(TRUE, True), (NOT_TRUE, False)], ids=["true", "false"]
)
def test_flag_is_read_in_every_spelling(log_in_as, name, values, verified):
    part = 0 if USERS[name][0] and FLAGS[name] in USERS[name][0] else 1
    for value in values:
        profile = log_in_as(name, changed(USERS[name], part, FLAGS[name], value))

        assert (profile.email, profile.email_verified) == (ADDRESS, verified), value


@pytest.mark.parametrize("name", ["google", "sso", "linkedin", "discord", "slack", "apple"])
@pytest.mark.parametrize(
    ("email", "expected"),
    [
        ([ADDRESS], (ADDRESS, True)),
        ([ADDRESS, "b@example.com"], (ADDRESS, False)),
        ([None, "", ADDRESS], (ADDRESS, True)),
        ([], ("", False)),
    ],
)
def test_list_of_addresses_is_read(log_in_as, name, email, expected):
    part = 0 if USERS[name][0] else 1
    profile = log_in_as(name, changed(USERS[name], part, "email", email))

    assert (profile.email, profile.email_verified) == expected


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"emails": [ADDRESS]}, (ADDRESS, False)),
        ({"emails": ADDRESS}, (ADDRESS, False)),
        ({"emails": [ADDRESS], "email": ADDRESS, "email_verified": True}, (ADDRESS, True)),
        ({"emails": ["b@x.test"], "email": ADDRESS, "email_verified": True}, ("b@x.test", False)),
        ({"email": ADDRESS, "email_verified": True}, ("", False)),
        ({"emails": None}, ("", False)),
    ],
)
def test_setting_names_the_claim_with_the_address(log_in_as, claims, expected):
    """The flag describes the claim `email`, and nothing else."""
    profile = log_in_as("sso", ({"sub": "ann", **claims}, {"sub": "ann"}), EMAIL_CLAIM="emails")

    assert (profile.email, profile.email_verified) == expected


@pytest.mark.parametrize("flag", [False, None])
def test_flag_of_the_user_info_does_not_describe_the_address_of_the_id_token(log_in_as, flag):
    claims = {"sub": "ann", "email": ADDRESS, "email_verified": flag}
    user_info = {"sub": "ann", "emails": ADDRESS, "email": "b@x.test", "email_verified": True}

    profile = log_in_as("sso", (claims, user_info), EMAIL_CLAIM="emails")

    assert (profile.email, profile.email_verified) == (ADDRESS, False)


@pytest.mark.parametrize("absent", [None, ""])
def test_absent_claim_of_the_id_token_is_read_from_the_user_info(log_in_as, absent):
    """`null` and `""` are absent: they hide nothing that the other document has."""
    claims = {"sub": "ann", "email": absent, "name": absent, "picture": absent}
    user_info = {**OPENID, "sub": "ann"}

    profile = log_in_as("sso", (claims, user_info))

    assert (profile.email, profile.email_verified) == (ADDRESS, True)
    assert (profile.name, profile.avatar) == ("Ann Lee", "https://example.com/ann.png")


# The identifier


@pytest.mark.parametrize(
    ("sub", "subject"), [(7, "7"), ("7", "7"), (10**30, "1" + "0" * 30), ("ann", "ann"), (-3, "-3")]
)
def test_numeric_subject_is_its_digits(log_in_as, sub, subject):
    claims = {"sub": sub, "email": ""}

    profile = log_in_as("sso", (claims, {**OPENID, "sub": subject}))

    assert (profile.subject, profile.email) == (subject, ADDRESS)


@pytest.mark.parametrize("sub", [True, 1.5, [], ["ann"], {}, {"a": 1}, 0, "", " ", "null", 10**300])
def test_subject_that_identifies_nobody_is_refused(log_in_as, sub):
    with pytest.raises(UserInfoFailed):
        log_in_as("sso", ({**OPENID, "sub": sub}, {}))


# Scopes


@pytest.mark.parametrize(
    ("scopes", "asked"),
    [
        (["user"], 1),
        (["user", "repo"], 1),
        (["read:user", "user:email"], 1),
        (["read:user user:email"], 1),
        ("read:user user:email", 1),
        ("read:user,user:email", 1),
        ("user", 1),
        (["read:user"], 0),
        ("repo", 0),
        ([], 1),
        ("", 1),
    ],
)
def test_broader_scope_includes_the_narrower_one(log_in_as, standin, scopes, asked):
    profile = log_in_as("github", USERS["github"], SCOPES=scopes)

    assert len(standin.asked("/user/emails")) == asked
    assert profile.email == (ADDRESS if asked else "")


def test_scopes_are_sent_as_one_text(provider):
    known = provider("github", CLIENT_ID="c", CLIENT_SECRET="s", SCOPES=["a b", "c,d", "a"])

    assert parameters_of(known.authorization_url(new_flow("github")))["scope"] == "a b c d"


# The nonce


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("spell", [str, sha256, lambda text: sha256(text).upper()])
def test_nonce_may_be_its_digest(verify, spell):
    assert verify(nonce=spell(NONCE.reveal())).email == ADDRESS


@pytest.mark.parametrize(
    "nonce",
    [sha256("another"), sha256(sha256(NONCE.reveal())), sha256(""), [sha256(NONCE.reveal())]],
)
def test_other_digest_is_refused(verify, nonce):
    with pytest.raises(TokenExchangeFailed):
        verify(nonce=nonce)


# User info as a signed JWT


@pytest.fixture
def signed_info(standin, log_in_as):
    """`signed_info(claim=…)`: the profile if the user info is a JWT with these claims."""

    def go(*, key=KEY, algorithm="RS256", body=None, content_type="application/jwt", **claims):
        content = {"iss": standin.url, "aud": CLIENT_ID, **OPENID, **claims}
        content = {name: value for name, value in content.items() if value is not None}
        signed = jwt.encode(content, key, algorithm=algorithm, headers={"kid": KID})
        standin.headers["Content-Type"] = content_type
        return log_in_as("sso", ({"sub": "ann"}, body or signed.encode()))

    return go


@pytest.mark.parametrize(
    "content_type", ["application/jwt", "Application/JWT; charset=utf-8", "application/jwt;x=1"]
)
def test_signed_user_info_is_read(signed_info, content_type):
    profile = signed_info(content_type=content_type)

    assert (profile.email, profile.email_verified, profile.name) == (ADDRESS, True, "Ann Lee")


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": OTHER},
        {"key": "k" * 64, "algorithm": "HS256"},
        {"key": None, "algorithm": "none"},
        {"iss": "https://evil.test"},
        {"iss": None},
        {"aud": "another client"},
        {"aud": None},
        {"sub": "eve"},
        {"sub": None},
        {"exp": 1},
        {"body": b"no token"},
        {"body": b"a.b.c"},
        {"body": json.dumps(OPENID).encode()},
        {"body": b"\xff" * 40},
    ],
)
def test_signed_user_info_that_cannot_be_trusted_is_refused(signed_info, wrong):
    with pytest.raises(UserInfoFailed):
        signed_info(**wrong)
