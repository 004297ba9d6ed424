"""The command writes everything about one user to a file that only its owner reads."""

import json
import stat

import pytest
from django.core.management import CommandError

from tests.support.flows import deactivate

pytestmark = pytest.mark.django_db

HOOK = "tests.commands.test_export.broken"


def broken(user):
    raise RuntimeError("the shop is closed")


@pytest.fixture
def ann(api):
    return api.sign_up("ann@example.com", username="ann-1")


@pytest.fixture
def output(tmp_path):
    return tmp_path / "ann.json"


@pytest.fixture
def export(run, ann, output):
    return lambda name="ann-1": run("authservice_export", name, "--output", str(output))


@pytest.mark.parametrize("name", ["ann@example.com", "ann-1", "id"])
def test_export_writes_the_document_of_the_user(api, export, ann, output, name):
    api.sign_up("bob@example.com", username="bob-1")

    printed = export(ann["user"]["id"] if name == "id" else name)

    document = json.loads(output.read_text())["data"]
    assert document["complete"] is True
    assert document["user_id"] == ann["user"]["id"]
    assert "bob" not in output.read_text()
    assert printed == f"Wrote the data of user {ann['user']['id']} to {output}.\n"


def test_export_is_the_one_that_the_user_downloads(api, export, ann, output):
    export()

    downloaded = api.get("me/export", token=ann["access_token"]).data
    written = json.loads(output.read_text())["data"]
    assert written["parts"][0] == downloaded["parts"][0]
    assert [part["name"] for part in written["parts"]] == [
        part["name"] for part in downloaded["parts"]
    ]


def test_export_does_not_use_up_the_hour_of_the_user(api, export, ann):
    export()

    assert api.get("me/export", token=ann["access_token"]).status == 200


def test_export_of_a_suspended_user_is_written(export, ann, output):
    deactivate()
    export()

    assert json.loads(output.read_text())["data"]["parts"][0]["rows"][0]["active"] is False


def test_export_is_readable_by_its_owner_only(export, output):
    export()

    assert stat.S_IMODE(output.stat().st_mode) == 0o600


def test_export_is_recorded_as_an_action_of_an_operator(recorded, export, ann):
    export()

    [event] = recorded("admin.user.exported")
    assert (str(event.target.pk), event.user, event.actor_type) == (
        ann["user"]["id"],
        None,
        "system",
    )


def test_export_replaces_no_file(export, output):
    output.write_text("mine")

    with pytest.raises(CommandError, match="exists"):
        export()

    assert output.read_text() == "mine"


def test_export_into_a_missing_folder_says_so(run, ann, tmp_path):
    with pytest.raises(CommandError, match="could not be written"):
        run("authservice_export", "ann-1", "--output", str(tmp_path / "none" / "ann.json"))


def test_export_of_an_unknown_user_says_so(export, output):
    with pytest.raises(CommandError, match="no user 'eve'"):
        export("eve")

    assert not output.exists()


def test_broken_export_leaves_no_file(export, output, configure):
    configure(CORE={"EXPORT_HOOK": HOOK})

    with pytest.raises(RuntimeError):
        export()

    assert list(output.parent.iterdir()) == []


def test_export_after_a_killed_one_is_written(export, output):
    output.with_name("ann.json.unfinished").write_text("half")

    export()

    assert list(output.parent.iterdir()) == [output]
