"""The page of an organization offers each member what their role permits, and nothing else."""

import re
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from authservice.organization.models import Membership, OrganizationInvitation
from authservice.testing import PASSWORD, UserFactory, make_organization
from tests.pages.inside.person import Person

pytestmark = pytest.mark.django_db

# Roles of the project, each with one right.
ROLES = {
    "host": {"may": ["invite"]},
    "warden": {"may": ["change_roles"]},
    "guard": {"may": ["remove"]},
    "writer": {"may": ["update"]},
}
PEOPLE = ("owner", "admin", "member", *ROLES)
OFFERED = {
    "owner": {"rename", "invite", "role", "remove", "uninvite", "leave", "delete"},
    "admin": {"rename", "invite", "role", "remove", "uninvite", "leave"},
    "host": {"invite", "uninvite", "leave"},
    "warden": {"role", "leave"},
    "guard": {"remove", "leave"},
    "writer": {"rename", "leave"},
    "member": {"leave"},
}
FORM = re.compile(r"organizations/(\w+)\?")


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Only once, without the csrf module: rights do not depend on it."""


@pytest.fixture
def acme(configure):
    """An organization with a second owner, and a member and an invitation of each role."""
    configure(ORGANIZATION={"ROLES": ROLES}, THROTTLE={"ENABLED": False})
    founder, *others = (
        UserFactory(username=name, email=f"{name}@example.com") for name in ("founder", *PEOPLE)
    )
    acme = make_organization(founder)
    for role, user in zip(PEOPLE, others, strict=True):
        Membership.objects.create(organization=acme, user=user, role=role)
        email = f"new-{role}@example.com"
        OrganizationInvitation.objects.create(
            organization=acme,
            inviter=founder,
            role=role,
            email=email,
            email_key=email,
            expires_at=timezone.now() + timedelta(days=1),
        )
    return acme


@pytest.fixture
def opened(acme):
    """The person of a role, and the page of the organization as they see it."""

    def opened(role):
        person = Person()
        person.enter(f"{role}@example.com", PASSWORD)
        return person, person.open(f"/auth/account/organizations?id={acme.pk}")

    return opened


def about(page, name):
    """The buttons in the row of a member."""
    rest = page.html.partition(f">{name}@example.com</span>")[2]
    return FORM.findall(re.split(r'<div class="item">|</section>', rest)[0])


@pytest.mark.parametrize("role", PEOPLE)
def test_member_is_offered_what_the_role_permits_and_nothing_that_is_refused(role, opened):
    person, page = opened(role)
    urls = [url for url in page.links if FORM.search(url)]
    # Of the same button in several rows, the first and the last: owners come first.
    by_form = [{FORM.search(url)[1]: url for url in some} for some in (urls, reversed(urls))]
    statuses = {}

    for url in {*by_form[0].values(), *by_form[1].values()}:
        with transaction.atomic():
            form = person.open(url)
            typed = {"name": "New"} if "rename" in url else {}
            typed |= {"email": "late@example.com"} if "invite?" in url else {}
            statuses[url] = form.status, person.post(form, **typed).status
            transaction.set_rollback(True)

    assert {FORM.search(url)[1] for url in urls} == OFFERED[role]
    assert set(statuses.values()) == {(200, 303)}


@pytest.mark.parametrize("role", ["owner", "admin"])
def test_every_role_that_a_form_offers_can_be_given(role, opened):
    person, page = opened(role)
    form = person.open(page.link("Invite"))
    names = re.findall(r'<option value="(\w+)"', form.html)

    sent = [person.post(form, role=name, email=f"{name}-2@example.com").status for name in names]

    known = ("owner", "admin", *ROLES, "member")
    assert names == [name for name in known if role == "owner" or name != "owner"]
    assert set(sent) == {303}


def test_plain_member_sees_all_roles_and_no_button_of_others(opened):
    _, page = opened("member")

    assert "You · Member" in page.text
    assert re.search(r"Owner founder@example\.com", page.text)
    assert [about(page, name) for name in ("founder", "admin", "guard")] == [[], [], []]


def test_admin_changes_no_owner(opened):
    _, page = opened("admin")

    assert [about(page, name) for name in ("owner", "member")] == [[], ["role", "remove"]]
    assert "You · Admin" in page.text


def test_owner_may_change_members_whose_role_is_gone(acme, opened):
    Membership.objects.filter(role="guard").update(role="former")

    assert about(opened("owner")[1], "guard") == ["role", "remove"]
    assert about(opened("warden")[1], "guard") == []
