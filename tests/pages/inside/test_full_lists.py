"""Pages with full lists of the longest names stay small."""

import pytest

from authservice.organization.models import Membership, Organization
from authservice.pages import account_pages, calls
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import ANN, prove
from tests.support.mounted import mounted
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

LARGEST = 40_000  # bytes
MANY = account_pages.PER_PAGE + 1  # more than any list shows at once
SECTION = "/auth/account/organizations"
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("es", "Español"), ("fr", "Français")]
# The API takes no longer name. HTML writes this character with six.
NAME = "'" * 255


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Once: the lists are the same with the csrf module."""
    with mounted():
        yield


def address(number):
    domain = ".".join(["d" * 62, "e" * 62, "f" * 55])
    text = f"{number:064}@{domain}.example"
    assert len(text) == 254
    return text


@pytest.fixture
def calm(configure):
    configure(
        THROTTLE={"ENABLED": False},
        PAGES={"NAME": "Plum", "LEGAL_LINKS": {"Terms": "/terms", "Privacy": "/privacy"}},
    )


@pytest.fixture
def acme(calm, signed_in, api):
    """The id of an organization of Ann, with many members and invitations."""
    prove()
    page = signed_in.send(signed_in.open(f"{SECTION}/create"), name=NAME)
    org_id = page.link("Open").partition("id=")[2]
    token = api.log_in()["access_token"]
    for number in range(MANY):
        member = api.sign_up(address(number), name=NAME)["user"]["id"]
        Membership.objects.create(organization_id=org_id, user_id=member)
        invited = api.post(f"org/{org_id}/invite", token=token, email=address(1000 + number))
        assert invited.status == 201, invited.body
    return org_id


def size(page):
    return len(page.response.content)


def test_members_and_invitations_in_each_language(signed_in, acme, settings):
    settings.LANGUAGES = LANGUAGES

    for language, _ in LANGUAGES:
        page = signed_in.open(f"{SECTION}?id={acme}&members=1", **{"Accept-Language": language})

        assert f'<html lang="{language}"' in page.html
        assert page.html.count('class="item"') == 2 * account_pages.PER_PAGE + 2
        assert size(page) < LARGEST, language


def test_organizations_and_invitations_to_them(calm, signed_in, api):
    ann = the_user(ANN)
    for number in range(MANY):
        row = Organization.objects.create(name=NAME, slug=f"{number:064}")
        Membership.objects.create(organization=row, user=ann)
    boss = api.sign_up("boss@example.com")["access_token"]
    for number in range(MANY):
        org_id = api.post("org", token=boss, name=NAME, slug=f"shop-{number}").data["id"]
        assert api.post(f"org/{org_id}/invite", token=boss, email=ANN).status == 201

    page = signed_in.open(SECTION)

    assert page.html.count('class="item"') == 2 * account_pages.PER_PAGE + 2
    assert size(page) < LARGEST


def test_sessions_and_activity(calm, signed_in):
    agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"
    for number in range(MANY):
        other = Person()
        other.client.defaults["HTTP_USER_AGENT"] = agent
        other.client.defaults["REMOTE_ADDR"] = f"2001:db8:aaaa:bbbb:cccc:dddd:eeee:{number:04x}"
        other.enter(ANN, PASSWORD)

    for section in ("activity", *(["sessions"] if calls.exists("sessions") else [])):
        page = signed_in.open(f"/auth/account/{section}")
        assert page.html.count('class="item"') == account_pages.PER_PAGE + 1, section
        assert size(page) < LARGEST, section
