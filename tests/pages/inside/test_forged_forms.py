"""Forms of other sites, of other browsers and without a token change nothing."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Session
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW

pytestmark = pytest.mark.django_db

OTHER = "bob@example.com"
# What each form would do, with right values.
PUBLIC = {
    "login": {"identifier": ANN, "password": PASSWORD},
    "signup": {"email": OTHER, "password": PASSWORD},
    "forgot-password": {"email": ANN},
    "magic-link/send": {"email": ANN},
    "send-verification-email": {"email": ANN},
}
OWN = {
    "logout": {},
    "account/profile/name": {"name": "Mallory"},
    "account/profile/email": {"email": OTHER, "password": PASSWORD},
    "account/profile/username": {"username": "mallory", "password": PASSWORD},
    "account/profile/phone": {"phone": "+4930123456", "password": PASSWORD},
    "account/profile/confirm-email": {},
    "account/profile/delete": {"password": PASSWORD},
    "account/security/password": {"old_password": PASSWORD, "new_password": NEW},
    "account/security/factor": {"password": PASSWORD},
    "account/organizations/create": {"name": "Acme"},
}
TOKEN = "csrfmiddlewaretoken"
FORGED = {
    "no token": ({TOKEN: None, "other": "x"}, {}),
    "empty token": ({TOKEN: ""}, {}),
    "made-up token": ({TOKEN: "x" * 64}, {}),
    "other site": ({}, {"Origin": "https://evil.example"}),
    "hidden origin": ({}, {"Origin": "null"}),
    "other site by form": ({TOKEN: None, "other": "x"}, {"Origin": "https://evil.example"}),
    "other site without origin": ({TOKEN: None, "other": "x"}, {"Sec-Fetch-Site": "cross-site"}),
}


def state(post):
    user = get_user_model().objects.get(username="ann")
    rows = Session.objects.filter(user=user)
    return (
        *(user.username, user.email, user.password, get_user_model().objects.count()),
        *(rows.filter(ended_at=None).count(), rows.count(), post.kinds()),
        user.authservice_account.name,
    )


@pytest.mark.parametrize("how", FORGED)
@pytest.mark.parametrize("path", [*PUBLIC, *OWN])
def test_forged_form_changes_nothing(path, how, person, ann, post, configure):
    configure(CORE={"ALLOW_SELF_DELETE": True})
    if path in OWN:
        person.sign_in(ANN, PASSWORD)
    page = person.open(f"/auth/{path}")
    before = state(post)
    typed, headers = FORGED[how]

    answer = person.post(page, **{**PUBLIC, **OWN}[path], **typed, headers=headers)

    assert state(post) == before
    assert answer.alert.startswith("This form was open for too long")
    assert person.name == ("ann" if path in OWN else "")


@pytest.mark.parametrize("path", [*PUBLIC, *OWN])
def test_the_same_form_of_the_page_works(path, person, ann, post, configure):
    """So the test above can fail."""
    configure(CORE={"ALLOW_SELF_DELETE": True})
    if path in OWN:
        person.sign_in(ANN, PASSWORD)
    page = person.open(f"/auth/{path}")
    sessions = Session.objects.count()

    answer = person.post(page, **{**PUBLIC, **OWN}[path])

    assert answer.alert == "", answer.text
    changed = answer.status == 303 or post.jobs or Session.objects.count() > sessions
    assert changed or answer.heading == "Turn on the second factor"


@pytest.mark.parametrize("path", [*PUBLIC, *OWN])
def test_pages_have_the_headers_of_a_sign_in(path, person, ann, configure):
    configure(CORE={"ALLOW_SELF_DELETE": True})
    if path in OWN:
        person.sign_in(ANN, PASSWORD)

    page = person.open(f"/auth/{path}")

    headers = page.response.headers
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store, private"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert len(page.html.encode()) < 40_000
    assert "<script" not in page.html


def test_form_of_another_tab_works_after_a_login(person, ann):
    """A login renews the CSRF token, so the form of the other tab is not acted upon."""
    first, second = person.open("/auth/login"), person.open("/auth/login")
    person.send(first, identifier=ANN, password=PASSWORD)

    page = person.send(second, identifier=ANN, password=PASSWORD)

    assert (page.heading, person.name) == ("Profile", "ann")
    assert Session.objects.filter(method="password").count() == 1


def test_form_after_cookies_were_deleted_keeps_what_was_typed(person, ann):
    page = person.open("/auth/login")
    person.client.cookies.clear()

    page = person.send(page, identifier=ANN, password=PASSWORD)

    assert page.alert.startswith("This form was open for too long")
    assert f'value="{ANN}"' in page.html
    assert person.send(page, password=PASSWORD).heading == "Profile"


def test_html_in_fields_is_text(person, ann):
    typed = '"><script>alert(1)</script>'

    page = person.sign_in(typed, "x")
    assert typed not in page.html
    page = person.send(person.open("/auth/signup"), name=typed, email=typed, password="x")
    assert typed not in page.html
    assert typed not in person.open(f"/auth/login?next=/{typed}").html
