"""The command ends sign-ins at once, and says how many."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from authservice.core.models import Account, Session
from tests.people import has, the_user

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_TOKEN")


def opens(api, tokens):
    return api.get("me", token=tokens["access_token"]).status == 200


@pytest.fixture
def ann(api):
    return api.sign_up("ann@example.com", username="ann-1")


@pytest.fixture
def bob(api):
    return api.sign_up("bob@example.com", username="bob-1")


@pytest.mark.parametrize("name", ["ann@example.com", "ANN@Example.com", "ann-1", "id"])
def test_the_sign_ins_of_one_user_end(api, run, ann, bob, name):
    named = ann["user"]["id"] if name == "id" else name

    said = run("authservice_revoke", "--user", named)

    assert "Ended 1 sessions of user" in said
    assert api.get("me", token=ann["access_token"]).error == REFUSED
    assert opens(api, bob)


def test_a_refresh_token_is_dead_too(api, run, ann):
    run("authservice_revoke", "--user", "ann-1")

    answer = api.post("refresh", refresh_token=ann["refresh_token"])
    assert answer.error == (401, "INVALID_REFRESH_TOKEN")


def test_a_user_may_sign_in_again(api, run, ann):
    run("authservice_revoke", "--user", "ann-1")

    assert opens(api, api.log_in())


def test_the_version_of_tokens_is_raised(run, ann):
    run("authservice_revoke", "--user", "ann-1")

    assert Account.objects.get().token_version == 1


def test_an_unknown_user_is_an_error(run, ann):
    with pytest.raises(CommandError, match="no user 'nobody'"):
        run("authservice_revoke", "--user", "nobody")


@pytest.mark.skipif(not has("username"), reason="its users have no username to mistake")
def test_a_text_that_means_two_users_is_an_error(api, run, ann, bob):
    taken = ann["user"]["id"]
    user = the_user("bob@example.com")
    user.username = taken
    user.save()

    with pytest.raises(CommandError, match="matches the users"):
        run("authservice_revoke", "--user", taken)

    assert opens(api, ann)
    assert opens(api, bob)


def test_all_sign_ins_end(api, run, ann, bob):
    said = run("authservice_revoke", "--all", "--no-input", "--batch-size", "1")

    assert said == "Ended 2 sessions of 2 users.\n"
    assert not opens(api, ann)
    assert not opens(api, bob)


def test_all_again_finds_nobody(run, ann):
    run("authservice_revoke", "--all", "--no-input")

    assert run("authservice_revoke", "--all", "--no-input") == "Ended 0 sessions of 0 users.\n"


@pytest.mark.parametrize("answer", ["no", "", "y"])
def test_all_is_asked_for_and_anything_but_yes_ends_nothing(api, run, ann, monkeypatch, answer):
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or answer)

    with pytest.raises(CommandError, match="No session was ended"):
        run("authservice_revoke", "--all")

    assert asked == ["End 1 sessions of all users? Type 'yes' to continue: "]
    assert opens(api, ann)


def test_yes_goes_on(api, run, ann, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda _: "yes")

    run("authservice_revoke", "--all")

    assert not opens(api, ann)


def test_nobody_there_to_answer_ends_nothing(api, run, ann, monkeypatch):
    def gone(_):
        raise EOFError

    monkeypatch.setattr("builtins.input", gone)

    with pytest.raises(CommandError, match="No session was ended"):
        run("authservice_revoke", "--all")


@pytest.mark.parametrize("whose", [["--all", "--no-input"], ["--user", "ann@example.com"]])
def test_before_spares_what_began_later(api, run, ann, whose):
    later = api.log_in()
    newest = Session.objects.latest("created_at")
    long_ago = newest.created_at - timedelta(days=400)
    # Still in use: when it began decides, or a stolen one would be spared for being used.
    used = newest.created_at + timedelta(minutes=1)
    Session.objects.exclude(pk=newest.pk).update(created_at=long_ago, last_used_at=used)

    said = run("authservice_revoke", *whose, "--before", str(newest.created_at))

    assert "Ended 1 sessions" in said
    assert not opens(api, ann)
    assert opens(api, later)
    assert api.post("refresh", refresh_token=later["refresh_token"]).status == 200


@pytest.mark.parametrize("text", ["2020-01-02T12:30", "2020-01-02T12:30:00+02:00", "2020-01-02"])
def test_before_takes_a_date_or_a_time(run, ann, text):
    assert "Ended 0" in run("authservice_revoke", "--all", "--no-input", "--before", text)


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["--user", "ann", "--all"],
        ["--all", "--no-input", "--before", "yesterday"],
        ["--all", "--no-input", "--batch-size", "0"],
    ],
)
def test_a_senseless_call_is_refused(wrong):
    with pytest.raises(CommandError):
        call_command("authservice_revoke", *wrong)


def test_every_user_is_told_of(run, ann, bob, told):
    run("authservice_revoke", "--all", "--no-input")

    assert sorted(str(event.target.pk) for event in told("security.session.revoked")) == sorted(
        [ann["user"]["id"], bob["user"]["id"]]
    )
