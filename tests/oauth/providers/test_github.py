"""GitHub: the numeric id, and the address from the list of addresses."""

import pytest

from authservice.oauth.provider import Profile, TokenExchangeFailed, UserInfoFailed

GITHUB_EMAILS = [
    {"email": "octo@example.com", "verified": True, "primary": True, "visibility": "public"},
    {"email": "old@example.com", "verified": True, "primary": False, "visibility": None},
]


def github(standin, emails=GITHUB_EMAILS, **more):
    standin.tokens = {"token_type": "bearer", "scope": "read:user,user:email"}
    standin.answers["/user"] = {
        "login": "octocat",
        "id": 583231,
        "node_id": "MDQ6VXNlcjU4MzIzMQ==",
        "avatar_url": "https://avatars.githubusercontent.com/u/583231?v=4",
        "name": "The Octocat",
        "email": "shown@example.com",
        **more,
    }
    standin.answers["/user/emails"] = emails


def test_github_profile_has_the_numeric_id_and_the_verified_primary_address(named, standin, log_in):
    github(standin)
    result = log_in(named("github"))

    assert result.profile == Profile(
        subject="583231",
        email="octo@example.com",
        email_verified=True,
        name="The Octocat",
        avatar="https://avatars.githubusercontent.com/u/583231?v=4",
    )
    assert result.tokens.expires_at is None


NOREPLY = "users.noreply.github.com"


def email(address, verified, primary):
    return {"email": address, "verified": verified, "primary": primary, "visibility": None}


@pytest.mark.parametrize(
    ("emails", "expected"),
    [
        ([email("a@x.test", False, True)], ("a@x.test", False)),
        ([email("a@x.test", False, True), email("b@x.test", True, False)], ("b@x.test", True)),
        ([email("b@x.test", True, False), email("a@x.test", True, True)], ("a@x.test", True)),
        ([email("a@x.test", "true", True)], ("a@x.test", True)),
        ([email("1+a@users.noreply.github.com", True, True)], (f"1+a@{NOREPLY}", False)),
        ([email(f"a@{NOREPLY}", True, True), email("b@x.test", True, False)], ("b@x.test", True)),
        (
            [email(f"a@{NOREPLY}", True, True), email("b@x.test", False, False)],
            (f"a@{NOREPLY}", False),
        ),
        ([email("a@x.test", False, False)], ("", False)),
        ([], ("", False)),
        ({"message": "no"}, ("", False)),
        (["a@x.test", None, {"verified": True}], ("", False)),
    ],
    ids=[
        "unverified primary",
        "other verified",
        "primary first",
        "text flag",
        "no mail",
        "no mail, other verified",
        "no mail, other unverified",
        "neither",
        "none",
        "object",
        "garbage",
    ],
)
def test_github_address_is_chosen_from_the_list(named, standin, log_in, emails, expected):
    github(standin, emails)
    profile = log_in(named("github")).profile

    assert (profile.email, profile.email_verified) == expected


@pytest.mark.parametrize(
    ("domains", "expected"),
    [
        (["work.test"], ("me@work.test", True)),
        (["WORK.test"], ("me@work.test", True)),
        (["other.test"], ("me@home.test", True)),
        (["draft.test"], ("me@home.test", True)),
        (["*"], ("me@home.test", True)),
    ],
    ids=["domain", "another case", "no address", "unverified address", "all"],
)
def test_github_address_in_the_domains_of_the_provider_is_preferred(
    named, standin, log_in, domains, expected
):
    listed = [
        email("me@home.test", True, True),
        email("me@draft.test", False, False),
        email("me@work.test", True, False),
    ]
    github(standin, listed)
    profile = log_in(named("github", EMAIL_DOMAINS=domains)).profile

    assert (profile.email, profile.email_verified) == expected


def test_github_without_the_email_scope_has_no_address(named, standin, log_in):
    github(standin)
    profile = log_in(named("github", SCOPES=["read:user"])).profile

    assert profile.email == ""
    assert standin.asked("/user/emails") == []


def test_github_error_with_status_200_is_refused(named, standin, log_in):
    standin.answers["/token"] = {"error": "bad_verification_code", "error_description": "expired"}

    with pytest.raises(TokenExchangeFailed):
        log_in(named("github"))


def test_github_without_email_list_is_refused(named, standin, log_in):
    github(standin, (500, {"message": "oops"}))

    with pytest.raises(UserInfoFailed):
        log_in(named("github"))
