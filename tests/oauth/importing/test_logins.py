"""After an import the user logs in with the provider and reaches the account from before."""

import pytest

from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import profile
from tests.oauth.importing.conftest import GITHUB, GOOGLE, allauth, social
from tests.support.people import users

pytestmark = pytest.mark.django_db


def log_in(browser, standin, provider):
    """Log in at the stand-in, whose profile has no address."""
    sent = standin.approve(browser.start(provider))
    return browser.get(f"oauth/{provider}/callback?state={sent['state']}&code={sent['code']}")


def reached(answer, user):
    assert answer.status == 200, answer.body
    return answer.data["user"]["id"] == str(user.pk) and not answer.data["is_new_user"]


def test_user_of_social_auth_logs_in_with_google(run, named, standin, browser, old_user):
    named("google")
    social(old_user)
    standin.claims = {"sub": GOOGLE, "email": ""}
    standin.answers["/user"] = {"sub": GOOGLE}

    run("social_django")

    assert reached(log_in(browser, standin, "google"), old_user)
    assert users() == 1


def test_user_of_social_auth_logs_in_with_discord(run, named, standin, browser, old_user):
    named("discord")
    social(old_user, "discord", "80351110224678912")
    standin.answers["/user"] = {"id": "80351110224678912"}

    run("social_django")

    assert reached(log_in(browser, standin, "discord"), old_user)


def test_user_of_allauth_logs_in_with_github(run, named, standin, browser, old_user, settings):
    named("github")
    settings.SOCIALACCOUNT_PROVIDERS = {"github": {"GITHUB_URL": standin.url}}
    allauth(old_user, "github", GITHUB)
    standin.answers |= {"/user": {"id": int(GITHUB)}, "/user/emails": []}

    run("allauth")

    assert reached(log_in(browser, standin, "github"), old_user)


def test_user_of_allauth_logs_in_with_slack(run, named, standin, browser, old_user):
    named("slack")
    allauth(old_user, "slack", "T0R7GR_U0R7JM")
    standin.claims = {"sub": "U0R7JM", "https://slack.com/team_id": "T0R7GR", "email": ""}
    standin.answers["/user"] = {"sub": "U0R7JM"}

    run("allauth")

    assert reached(log_in(browser, standin, "slack"), old_user)


def test_user_of_an_own_openid_provider_logs_in(run, named, standin, browser, old_user, settings):
    named(sso=standin.openid_settings())
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "APPS": [
                {
                    "provider_id": "company",
                    "client_id": "old-client",
                    "settings": {"server_url": f"{standin.url}/.well-known/openid-configuration"},
                }
            ]
        }
    }
    allauth(old_user, "company", "Subject-1")
    standin.claims = {"sub": "Subject-1", "email": ""}
    standin.answers["/user"] = {"sub": "Subject-1"}

    run("allauth", "--map", "company=sso")

    assert reached(log_in(browser, standin, "sso"), old_user)


def test_subject_that_differs_in_case_is_another_user(run, browser, old_user):
    social(old_user, "acme-oidc", "AbC")
    run("social_django", "--map", "acme-oidc=acme")

    browser.sign_in(profile("abc", "other@example.com"))

    assert users() == 2
    assert reached(browser.sign_in(profile("AbC", "other@example.org")), old_user)


def test_user_with_an_imported_link_proves_the_address_with_the_provider(
    run, browser, post, old_user
):
    social(old_user, "acme-oidc", "ann-at-acme")
    run("social_django", "--map", "acme-oidc=acme")

    answer = browser.sign_in()

    assert reached(answer, old_user)
    assert answer.data["user"]["email_verified"] is True
    assert LinkedAccount.objects.get().subject == "ann-at-acme"
