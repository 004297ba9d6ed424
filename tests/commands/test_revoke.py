"""The command revokes sessions immediately and prints their number."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from authservice.core.models import Account, Session
from tests.support.people import has, the_user

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_TOKEN")


def is_valid(api, tokens):
    return api.get("me", token=tokens["access_token"]).status == 200


@pytest.fixture
def ann(api):
    return api.sign_up("ann@example.com", username="ann-1")


@pytest.fixture
def bob(api):
    return api.sign_up("bob@example.com", username="bob-1")


@pytest.mark.parametrize("name", ["ann@example.com", "ANN@Example.com", "ann-1", "id"])
def test_revoke_user_revokes_the_sessions_of_that_user_only(api, run, ann, bob, name):
    named = ann["user"]["id"] if name == "id" else name

    output = run("authservice_revoke", "--user", named)

    assert "Ended 1 session of user" in output
    assert api.get("me", token=ann["access_token"]).error == REFUSED
    assert is_valid(api, bob)


def test_revoke_user_revokes_refresh_tokens(api, run, ann):
    run("authservice_revoke", "--user", "ann-1")

    answer = api.post("refresh", refresh_token=ann["refresh_token"])
    assert answer.error == (401, "INVALID_REFRESH_TOKEN")


def test_revoked_user_can_log_in_again(api, run, ann):
    run("authservice_revoke", "--user", "ann-1")

    assert is_valid(api, api.log_in())


def test_revoke_user_raises_the_token_version(run, ann):
    run("authservice_revoke", "--user", "ann-1")

    assert Account.objects.get().token_version == 1


def test_revoke_user_finds_a_user_without_an_account(run, ann):
    Account.objects.all().delete()

    assert "Ended 1 session" in run("authservice_revoke", "--user", ann["user"]["id"])


def test_revoke_unknown_user_is_an_error(run, ann):
    with pytest.raises(CommandError, match="no user 'nobody'"):
        run("authservice_revoke", "--user", "nobody")


@pytest.mark.skipif(not has("username"), reason="its users have no username")
@pytest.mark.parametrize("name", ["", "9" * 40, "\udcff"])
def test_revoke_text_that_names_no_user_ends_no_session(api, run, ann, name):
    with pytest.raises(CommandError, match="no user"):
        run("authservice_revoke", f"--user={name}", "--no-input")

    assert is_valid(api, ann)


def test_revoke_ambiguous_user_is_an_error(api, run, ann, bob):
    taken = ann["user"]["id"]
    user = the_user("bob@example.com")
    user.username = taken
    user.save()

    with pytest.raises(CommandError, match="matches the users"):
        run("authservice_revoke", "--user", taken)

    assert is_valid(api, ann)
    assert is_valid(api, bob)


def test_revoke_all_revokes_all_sessions(api, run, ann, bob):
    output = run("authservice_revoke", "--all", "--no-input", "--batch-size", "1")

    assert output == "Ended 2 sessions of 2 users.\n"
    assert not is_valid(api, ann)
    assert not is_valid(api, bob)


def test_second_revoke_all_finds_no_session(run, ann):
    run("authservice_revoke", "--all", "--no-input")

    assert run("authservice_revoke", "--all", "--no-input") == "Ended 0 sessions of 0 users.\n"


@pytest.mark.parametrize("answer", ["no", "", "y"])
def test_revoke_all_without_confirmation_revokes_nothing(api, run, ann, monkeypatch, answer):
    prompts = []
    monkeypatch.setattr("builtins.input", lambda text: prompts.append(text) or answer)

    with pytest.raises(CommandError, match="No session was ended"):
        run("authservice_revoke", "--all")

    assert prompts == ["End 1 session of all users? Type 'yes' to continue: "]
    assert is_valid(api, ann)


def test_revoke_all_with_confirmation_revokes_sessions(api, run, ann, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda _: "yes")

    run("authservice_revoke", "--all")

    assert not is_valid(api, ann)


def test_revoke_all_without_terminal_revokes_nothing(api, run, ann, monkeypatch):
    def no_input(_):
        raise EOFError

    monkeypatch.setattr("builtins.input", no_input)

    with pytest.raises(CommandError, match="No session was ended"):
        run("authservice_revoke", "--all")


@pytest.mark.parametrize("selection", [["--all", "--no-input"], ["--user", "ann@example.com"]])
def test_revoke_before_keeps_sessions_created_later(api, run, ann, selection):
    later = api.log_in()
    newest = Session.objects.latest("created_at")
    long_ago = newest.created_at - timedelta(days=400)
    # Used recently: the creation time decides, or a stolen session would survive by being used.
    used = newest.created_at + timedelta(minutes=1)
    Session.objects.exclude(pk=newest.pk).update(created_at=long_ago, last_used_at=used)

    output = run("authservice_revoke", *selection, "--before", str(newest.created_at))

    assert "Ended 1 session" in output
    assert not is_valid(api, ann)
    assert is_valid(api, later)
    assert api.post("refresh", refresh_token=later["refresh_token"]).status == 200


@pytest.mark.parametrize("text", ["2020-01-02T12:30", "2020-01-02T12:30:00+02:00", "2020-01-02"])
def test_revoke_before_accepts_date_or_time(run, ann, text):
    assert "Ended 0" in run("authservice_revoke", "--all", "--no-input", "--before", text)


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["--user", "ann", "--all"],
        ["--all", "--no-input", "--before", "yesterday"],
        ["--all", "--no-input", "--before", ""],
        ["--all", "--no-input", "--before", "9999-12-31T23:59:59-12:00"],
        ["--all", "--no-input", "--before", "9999-12-31T23:59:59"],
        ["--all", "--no-input", "--batch-size", "0"],
    ],
)
def test_revoke_refuses_invalid_arguments(wrong, settings):
    settings.TIME_ZONE = "America/New_York"
    with pytest.raises(CommandError):
        call_command("authservice_revoke", *wrong)


def test_revoke_all_records_an_event_for_every_user(run, ann, bob, recorded):
    run("authservice_revoke", "--all", "--no-input")

    assert sorted(str(event.target.pk) for event in recorded("security.session.revoked")) == sorted(
        [ann["user"]["id"], bob["user"]["id"]]
    )
