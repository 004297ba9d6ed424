"""Wrong settings are reported by system checks."""

import re

import pytest
from django.core.checks import run_checks

from authservice.kernel.modules import plugged
from authservice.organization import roles


def ids():
    return {found.id for found in run_checks(databases=[]) if found.id.startswith("authservice.")}


OURS = {f"authservice.{name}" for name in ("E006", "W194", "E197", "W199")}


def test_default_settings_report_nothing(db):
    assert not ids() & OURS


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"RESERVED_SLUGS": ["Admin"]}, "W199"),
        ({"RESERVED_SLUGS": ["admin", 7]}, "W199"),
    ],
)
def test_wrong_setting_is_reported(db, organization, keys, expected):
    organization(**keys)

    assert ids() & OURS == {f"authservice.{expected}"}


def test_missing_messenger_is_reported(db):
    with plugged("messenger", None):
        assert "authservice.W194" in ids()


@pytest.mark.parametrize("required", [True, False])
def test_deployment_check_recommends_to_withhold_refresh_tokens(db, organization, required):
    organization(SWITCH_REQUIRES_REFRESH_TOKEN=required)

    reported = {found.id for found in run_checks(include_deployment_checks=True)}

    assert ("authservice.I196" in reported) is not required
    assert "authservice.I196" not in ids()


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ({"Billing": {}}, "'Billing' is not the name of a role"),
        ({"b" * 33: {}}, "is not the name of a role"),
        ({7: {}}, "7 is not the name of a role"),
        ({"billing": ["invite"]}, "The role 'billing' must be a dict, not list."),
        ({"billing": {"permission": []}}, "no key 'permission', .* Did you mean 'permissions'"),
        ({"admin": {"rank": 1}}, "The fixed role 'admin' takes no key 'rank', only permissions"),
        ({"owner": {"may": ["invite"]}}, "The fixed role 'owner' takes no key 'may'"),
        ({"billing": {"rank": 200}}, "The rank of the role 'billing' must be .* from 1 to 199"),
        ({"billing": {"rank": 0}}, "The rank of the role 'billing'"),
        ({"billing": {"rank": "150"}}, "The rank of the role 'billing'"),
        ({"billing": {"rank": True}}, "The rank of the role 'billing'"),
        ({"billing": {"may": ["delete"]}}, "'may' of the role 'billing' has 'delete', only"),
        ({"billing": {"may": ["invites"]}}, "has 'invites', only .* Did you mean 'invite'"),
        ({"billing": {"may": "invite"}}, "'may' of the role 'billing' must be a list of texts"),
        ({"billing": {"may": [7]}}, "'may' of the role 'billing' must be a list of texts"),
        ({"billing": {"permissions": "a.b"}}, "'permissions' of the role 'billing' must be"),
        ({"billing": {"permissions": [None]}}, "'permissions' of the role 'billing' must be"),
        ({"member": {"permissions": ["Reports"]}}, "'Reports' of the role 'member' is not a perm"),
        ({"billing": {"permissions": [""]}}, "'' of the role 'billing' is not a permission"),
        ({"billing": {"permissions": ["a" * 101]}}, "of the role 'billing' is not a permission"),
    ],
)
def test_wrong_role_is_reported_and_has_no_rights(db, organization, entries, text):
    organization(ROLES=entries)

    [reported] = [found for found in run_checks(databases=[]) if found.id == "authservice.E197"]

    assert re.search(text, reported.msg)
    fixed = ["owner", "admin", "member"]
    assert list(roles.table()) == fixed
    assert [role.grants for role in roles.table().values()] == [frozenset()] * 3


def test_wrong_role_leaves_the_others(organization):
    organization(ROLES={"billing": {"rank": 200}, "support": {"permissions": ["a.b"]}})

    assert list(roles.table()) == ["owner", "admin", "support", "member"]


def test_roles_that_are_no_dict_are_a_wrong_type(db, organization):
    organization(ROLES=["billing"])

    assert list(roles.table()) == ["owner", "admin", "member"]
    assert "authservice.E002" in ids()
