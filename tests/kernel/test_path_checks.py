"""System checks of the paths in a front end, to which links in mails and redirects lead."""

import pytest
from django.core.checks import run_checks

PATHS = (
    "VERIFY_EMAIL_CALLBACK_PATH",
    "RESET_PASSWORD_PATH",
    "INVITATION_PATH",
    "ORG_INVITATION_PATH",
)


@pytest.fixture
def found(configure):
    """`found(path)`: the messages about paths if the setting `name` is this one."""

    def check(path, name="RESET_PASSWORD_PATH"):
        configure(FRONTEND={"URL": "https://app.example.com", name: path})
        return [one for one in run_checks() if one.id == "authservice.E240"]

    return check


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/reset\n",
        "/reset\x00",
        "/reset password",
        "/reset\u200b",
        " /reset",
        "reset-password",
        "https://evil.example/reset",
        "https:/reset",
        "javascript:alert(1)",
        "@evil.example/reset",
        "#/reset",
        "?reset",
        "/reset#form",
        "/reset#",
    ],
)
def test_text_that_is_no_path_is_an_error(found, path):
    assert len(found(path)) == 1


@pytest.mark.parametrize(
    "path", ["", "/", "/reset", "/de/reset/", "/reset?from=mail", "/#/reset", "/zur\u00fccksetzen"]
)
def test_path_in_the_front_end_passes_the_checks(found, path):
    assert found(path) == []


@pytest.mark.parametrize("name", PATHS)
def test_each_path_of_a_front_end_is_checked_and_named(found, name):
    (wrong,) = found("//evil.example", name)

    assert f"FRONTEND.{name} is '//evil.example'" in wrong.msg
