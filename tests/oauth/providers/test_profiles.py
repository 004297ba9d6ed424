"""The profiles of the other named providers, in the shape of their public documentation."""

import pytest

from authservice.oauth.provider import Profile, UserInfoFailed
from authservice.oauth.provider_settings import find_provider
from tests.oauth.providers.conftest import new_flow
from tests.oauth.providers.standin import CLIENT_ID

# Google


def google_claims(**more):
    return {
        "azp": CLIENT_ID,
        "sub": "110169484474386276334",
        "email": "jsmith@example.com",
        "email_verified": True,
        "name": "Jane Smith",
        "given_name": "Jane",
        "family_name": "Smith",
        "picture": "https://lh3.googleusercontent.com/a/photo",
        "at_hash": "9MKET0Y7WpOlF96BtnoJyA",
        **more,
    }


def test_google_profile_is_that_of_the_id_token(named, standin, log_in):
    standin.claims = google_claims()
    result = log_in(named("google"))

    assert result.profile == Profile(
        subject="110169484474386276334",
        email="jsmith@example.com",
        email_verified=True,
        name="Jane Smith",
        first_name="Jane",
        last_name="Smith",
        avatar="https://lh3.googleusercontent.com/a/photo",
    )
    assert standin.asked("/user") == []
    assert result.tokens.access_token.reveal() == "access-1"
    assert result.tokens.refresh_token.reveal() == "refresh-1"
    assert result.tokens.expires_at is not None


@pytest.mark.parametrize("flag", [False, None, "false", 0])
def test_google_email_is_verified_by_a_true_flag_alone(named, standin, log_in, flag):
    standin.claims = google_claims(email_verified=flag)

    assert log_in(named("google")).profile.email_verified is False


def test_google_is_asked_for_a_refresh_token_if_tokens_are_stored(named, configure, settings):
    plain = named("google").authorization_url(new_flow("google"))
    configure(OAUTH={**settings.AUTHSERVICE["OAUTH"], "STORE_PROVIDER_TOKENS": True})
    stored = find_provider("google").authorization_url(new_flow("google"))

    assert "access_type" not in plain
    assert "access_type=offline&prompt=consent" in stored


def test_google_issuer_without_scheme_is_accepted(provider):
    known = provider("google", CLIENT_ID="c", CLIENT_SECRET="s")

    assert known.is_issuer({"iss": "accounts.google.com"})
    assert known.is_issuer({"iss": "https://accounts.google.com"})
    assert not known.is_issuer({"iss": "https://accounts.google.com.evil.test"})


# Discord


def discord(standin, **more):
    standin.answers["/user"] = {
        "id": "80351110224678912",
        "username": "nelly",
        "discriminator": "0",
        "global_name": "Nelly",
        "avatar": "8342729096ea3675442027381ff50dfe",
        "verified": True,
        "email": "nelly@example.com",
        **more,
    }


def test_discord_profile(named, standin, log_in):
    discord(standin)

    assert log_in(named("discord")).profile == Profile(
        subject="80351110224678912",
        email="nelly@example.com",
        email_verified=True,
        name="Nelly",
        avatar="https://cdn.discordapp.com/avatars/80351110224678912/"
        "8342729096ea3675442027381ff50dfe.png",
    )


@pytest.mark.parametrize("flag", [False, None, "false"])
def test_discord_flag_decides_whether_the_address_is_verified(named, standin, log_in, flag):
    discord(standin, verified=flag, avatar="../../evil")
    profile = log_in(named("discord")).profile

    assert profile.email_verified is False
    assert profile.avatar == ""


# Facebook


def test_facebook_address_is_never_verified(named, standin, log_in):
    standin.answers["/user"] = {
        "id": "10158000000000000",
        "name": "Jane Doe",
        "first_name": "Jane",
        "last_name": "Doe",
        "email": "jane@example.com",
        "email_verified": True,
        "picture": {"data": {"height": 200, "url": "https://scontent.test/p.jpg", "width": 200}},
    }

    assert log_in(named("facebook")).profile == Profile(
        subject="10158000000000000",
        email="jane@example.com",
        email_verified=False,
        name="Jane Doe",
        first_name="Jane",
        last_name="Doe",
        avatar="https://scontent.test/p.jpg",
    )
    [query] = standin.asked("/user")
    assert len(query["appsecret_proof"]) == 64
    assert "email" in query["fields"]


def test_facebook_user_without_address_can_log_in(named, standin, log_in):
    standin.answers["/user"] = {"id": "1", "name": "Jane"}

    assert log_in(named("facebook")).profile == Profile(subject="1", name="Jane")


# GitLab, LinkedIn, Slack


def test_gitlab_profile_comes_from_the_user_info(named, standin, log_in):
    standin.claims = {"sub": "42"}
    standin.answers["/user"] = {
        "sub": "42",
        "name": "Sid",
        "nickname": "sid",
        "email": "sid@example.com",
        "email_verified": True,
        "picture": "https://gitlab.test/avatar.png",
    }

    assert log_in(named("gitlab")).profile == Profile(
        subject="42",
        email="sid@example.com",
        email_verified=True,
        name="Sid",
        avatar="https://gitlab.test/avatar.png",
    )


def test_linkedin_profile(named, standin, log_in):
    standin.answers["/user"] = {
        "sub": "782bbtaQ",
        "name": "John Doe",
        "given_name": "John",
        "family_name": "Doe",
        "picture": "https://media.licdn.test/p.jpg",
        "locale": "en-US",
        "email": "doe@example.com",
        "email_verified": True,
    }
    profile = log_in(named("linkedin")).profile

    assert (profile.subject, profile.email, profile.email_verified) == (
        "782bbtaQ",
        "doe@example.com",
        True,
    )
    assert "code_verifier" not in standin.asked("/token")[0]


def slack_claims(**more):
    return {
        "sub": "U0R7JM",
        "https://slack.com/user_id": "U0R7JM",
        "https://slack.com/team_id": "T0R7GR",
        "email": "krane@example.com",
        "email_verified": True,
        "name": "krane",
        **more,
    }


def test_slack_subject_names_workspace_and_user(named, standin, log_in):
    standin.claims = slack_claims()
    profile = log_in(named("slack")).profile

    assert (profile.subject, profile.email_verified) == ("T0R7GR-U0R7JM", True)


def test_slack_user_without_workspace_is_refused(named, standin, log_in):
    standin.claims = slack_claims(**{"https://slack.com/team_id": None})

    with pytest.raises(UserInfoFailed):
        log_in(named("slack"))
