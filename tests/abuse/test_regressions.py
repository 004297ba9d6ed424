"""Each of the mistakes in `regressions` has a test that detects it."""

import ast
import logging
from pathlib import Path
from unittest import mock

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from django.db import migrations
from django.db.migrations.loader import MigrationLoader
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from authservice.core.models import Account
from authservice.core.recovery import password_reset, verification
from authservice.core.tokens import signing
from tests.abuse.regressions import COVERED
from tests.support.client import PASSWORD, Api
from tests.support.key_pairs import entry
from tests.support.routes import Route, routes, with_a_body

pytestmark = pytest.mark.django_db

TESTS = Path(__file__).resolve().parents[1]
PHONE = "+4930123456"
RULES = [
    pytest.param(test, id=rule)
    for rule, names_of_tests in COVERED.items()
    for test in names_of_tests
]
# Fields that contain a secret (`...`), and the other required fields of their bodies.
SECRETS = {
    "verify-phone": {"phone": PHONE, "code": ...},
    "reset-password": {"code": ..., "phone": PHONE, "new_password": PASSWORD},
    "refresh": {"refresh_token": ...},
    "login": {"email": "ann@example.com", "password": ...},
}
NON_ASCII = st.text(
    st.characters(exclude_categories=["Cs"], min_codepoint=0x80), min_size=1, max_size=80
)


def test_no_mistake_is_left_out():
    assert len(COVERED) == 31


@pytest.mark.parametrize("test", RULES)
def test_listed_test_of_a_mistake_exists(test):
    file, _, name = test.partition("::")
    names = {
        node.name for node in ast.walk(ast.parse((TESTS / file).read_text())) if is_function(node)
    }

    assert name in names


def is_function(node):
    return isinstance(node, ast.FunctionDef)


def test_windows_of_one_scope_have_separate_counters(api, clock):
    answers = []
    for _ in range(4):
        answers += [api.post("is-available", email="ann@example.com").status for _ in range(31)]
        clock.forward(seconds=61)

    assert answers == ([200] * 30 + [429]) * 4


@pytest.mark.parametrize("code", ["+123456", " 12345", "+12345", "0123456", "1_2345", "123456.0"])
def test_code_of_another_shape_is_refused(api, code):
    answer = api.post("verify-phone", phone=PHONE, code=code)

    assert answer.error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("code", ["123 456", "123-456", "١٢٣٤٥٦", "１２３４５６", "12345６"])
def test_code_in_any_notation_is_compared_as_ascii_digits(api, code):
    answer = api.post("verify-phone", phone=PHONE, code=code)

    assert answer.error == (400, "INVALID_VERIFICATION_CODE")


@pytest.mark.parametrize("path", SECRETS)
def test_secret_beyond_ascii_is_not_a_5xx(path):
    @given(NON_ASCII)
    @settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
    def send(secret):
        body = {name: secret if value is ... else value for name, value in SECRETS[path].items()}
        assert 400 <= Api(raising=False).request("POST", path, body).status < 500

    send()


@pytest.mark.parametrize("route", with_a_body(), ids=str)
def test_body_that_is_no_object_is_not_a_5xx(robust, route: Route):
    token = "" if route.public else robust.sign_up()["access_token"]
    if route.super_admin:
        Account.objects.update(is_super_admin=True)
    bodies = ("[]", "[{}]", "[[]]", '"text"', "7", "null", "true")

    answers = {it: robust.request(route.method, route.path, it, token=token) for it in bodies}

    assert {answer.error for answer in answers.values()} == {(400, "INVALID_REQUEST_BODY")}


@pytest.mark.parametrize("variant", ["ANN@EXAMPLE.COM", "ａｎｎ@example.com", "ann@EXAMPLE。com"])
def test_variants_of_an_address_share_the_limit_of_attempts(api, clock, variant):
    api.sign_up()
    for number in range(10):
        email = variant if number % 2 else "ann@example.com"
        assert api.post("login", email=email, password="wrong").status == 401

    assert api.post("login", email=variant, password=PASSWORD).code == "TOO_MANY_ATTEMPTS"


def test_password_change_after_fresh_login_requires_old_password(api):
    api.sign_up()
    token = api.log_in()["access_token"]

    for old in ("", "wrong plum tart"):
        body = {"old_password": old, "new_password": "fig biscuit 17 lanterns"}
        assert api.request("PUT", "change-password", body, token=token).status in (400, 401)

    assert api.log_in()


SECRET = "s3cr3t-of-the-request-that-nobody-may-read"
CRASHES = [
    (verification, "verify_email", "GET", f"verify-email?token={SECRET}&email=a@b.example", None),
    (
        password_reset,
        "reset_with_link",
        "POST",
        "reset-password",
        {"token": SECRET, "email": "a@b.example", "new_password": SECRET},
    ),
]


@pytest.mark.parametrize(("module", "rule", "method", "path", "body"), CRASHES)
def test_unexpected_exception_leaks_no_secret_of_the_request(
    robust, caplog, monkeypatch, module, rule, method, path, body
):
    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr(module, rule, fail)
    caplog.set_level(logging.DEBUG)

    answer = robust.request(method, path, body, headers={"X-Device-Token": SECRET})

    assert answer.error == (500, "INTERNAL_ERROR")
    assert SECRET not in answer.response.content.decode()
    assert SECRET not in caplog.text


def test_signing_keys_are_parsed_once(api, configure):
    configure(SIGNING_KEYS=[entry("EdDSA", ed25519.Ed25519PrivateKey.generate())])
    token = api.sign_up()["access_token"]

    with mock.patch.object(signing, "_parse", side_effect=AssertionError) as parse:
        for _ in range(3):
            assert api.get("me", token=token).status == 200
            api.log_in()

    assert not parse.called


def test_data_migration_uses_the_database_of_its_schema_editor():
    data_migrations = [
        (name, operation)
        for name, made in MigrationLoader(None).disk_migrations.items()
        if name[0].startswith("authservice_")
        for operation in made.operations
        if isinstance(operation, migrations.RunPython)
    ]

    assert [name for name, operation in data_migrations if not _uses_alias(operation)] == []


def _uses_alias(operation):
    """Whether each function of the migration uses the alias of its schema editor, or only executes
    statements with it."""
    codes = [operation.code, operation.reverse_code]
    names = [code.__code__.co_names for code in codes if code is not migrations.RunPython.noop]
    return all({"connection", "alias"} <= {*used} or "execute" in used for used in names)


def test_list_of_routes_is_not_empty():
    assert len(routes()) > 15
