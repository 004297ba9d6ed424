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


def email(address, verified, primary):
    return {"email": address, "verified": verified, "primary": primary, "visibility": None}


@pytest.mark.parametrize(
    ("emails", "expected"),
    [
        ([email("a@x.test", False, True)], ("a@x.test", False)),
        ([email("a@x.test", False, True), email("b@x.test", True, False)], ("b@x.test", True)),
        ([email("b@x.test", True, False), email("a@x.test", True, True)], ("a@x.test", True)),
        ([email("a@x.test", "true", True)], ("a@x.test", False)),
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
