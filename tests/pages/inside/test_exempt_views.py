"""Views that are exempt from Django's check of forged requests, called by users of the pages."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client, override_settings

from authservice.organization.models import Membership, Organization
from tests.support.mounted import mounted
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

EVIL = {"Origin": "https://evil.example"}
HOME = "/auth/account/profile/name"
REFUSING = ("login", "login-async", "page", "proven", "member", "admin", "admin-async")
REFUSING = ("/recipe", *(f"/exempt/{name}" for name in REFUSING))
NINJA = ("/api/invoices", "/api/export")
PLAIN = ("/exempt/plain", "/exempt/plain-async")
ORGANIZATION = "authservice.organization.middleware.OrganizationMiddleware"
EARLY = f"{__name__}.reads_early"
NOBODY = {"user": "", "auth": False, "organization": ""}


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Without the csrf module: only Django's token counts. The routes are read once."""
    with override_settings(ROOT_URLCONF="tests.pages.inside.exempt_urls"):
        yield


@pytest.fixture(autouse=True)
def _switched(signed_in):
    acme = Organization.objects.create(name="Acme", slug="acme")
    Membership.objects.create(organization=acme, user=the_user("ann@example.com"), role="owner")
    signed_in.post(signed_in.open(f"/auth/account/organizations/switch?id={acme.pk}"))


def reads_early(get_response):
    """A middleware that logs who sends a request, before Django has found the view."""

    def read(request):
        request.seen = request.user.get_username(), bool(request.auth), bool(request.organization)
        response = get_response(request)
        response.headers["X-Seen"] = request.seen[0]
        return response

    return read


@pytest.fixture(params=["read late", "read early"])
def early(request, settings, signed_in):
    """Whether a middleware reads the user before the view is known."""
    early = [EARLY] if request.param == "read early" else []
    add(settings, signed_in, ORGANIZATION, *early)


def add(settings, person, *middleware):
    """A new client, because a client reads the setting at its first request."""
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, *middleware]
    cookies = person.client.cookies
    person.client = Client(enforce_csrf_checks=True)
    person.client.cookies = cookies


def token(person):
    person.open(HOME)
    return person.client.cookies["csrftoken"].value


def code(response):
    return response.status_code, response.json()["data"]["code"]


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("headers", [EVIL, {}], ids=["other site", "no origin"])
@pytest.mark.parametrize("path", REFUSING)
def test_forged_change_is_refused(path, headers, signed_in):
    assert code(signed_in.client.post(path, headers=headers)) == (403, "INVALID_CSRF")
    assert code(signed_in.client.delete(path, headers=headers)) == (403, "INVALID_CSRF")


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("path", NINJA)
def test_operation_of_ninja_is_unauthorized_for_a_forged_change(path, signed_in):
    assert signed_in.client.post(path, headers=EVIL).status_code == 401


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("path", PLAIN)
def test_forged_change_of_a_view_without_a_decorator_is_anonymous(path, signed_in):
    response = signed_in.client.post(path, headers=EVIL)

    assert response.json() == NOBODY
    assert response.headers.get("X-Seen", "ann") == "ann"
    assert "Cookie" in response.headers["Vary"]


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("path", [*REFUSING, *NINJA, *PLAIN])
def test_change_with_the_token_of_django_reaches_the_view(path, signed_in):
    csrf_token = token(signed_in)

    by_header = signed_in.client.post(path, headers={"X-CSRFToken": csrf_token})
    by_form = signed_in.client.post(path, {"csrfmiddlewaretoken": csrf_token})

    assert (by_header.status_code, by_form.status_code) == (200, 200)
    assert by_header.json() == by_form.json() != NOBODY


@pytest.mark.parametrize("path", REFUSING)
def test_token_of_django_from_another_site_is_refused(path, signed_in):
    headers = {"X-CSRFToken": token(signed_in), **EVIL}

    assert code(signed_in.client.post(path, headers=headers)) == (403, "INVALID_CSRF")


@pytest.mark.parametrize("path", [*REFUSING, *NINJA, *PLAIN])
def test_request_that_changes_nothing_needs_no_token(path, signed_in):
    response = signed_in.client.get(path, headers=EVIL)

    assert response.status_code == 200
    assert response.json() != NOBODY


@pytest.mark.parametrize("path", [*REFUSING, *PLAIN])
def test_test_client_that_checks_nothing_reaches_the_view(path, signed_in):
    client = Client()
    client.cookies = signed_in.client.cookies

    assert client.post(path).json() != NOBODY


@pytest.mark.parametrize("path", REFUSING)
def test_access_token_needs_no_token_of_django(path, api, signed_in):
    bearer = {"Authorization": f"Bearer {api.log_in()['access_token']}"}

    response = signed_in.client.post(path, headers={**bearer, **EVIL})

    # A session of its own, without an active organization.
    assert response.status_code == 200 or code(response) == (403, "ORG_NOT_ACTIVE")


def test_visitor_is_unauthorized_as_before():
    client = Client(enforce_csrf_checks=True)

    assert client.post("/exempt/login").status_code == 401
    assert client.post("/exempt/page").status_code == 302


def test_user_of_another_login_is_refused_by_the_recipe():
    client = Client(enforce_csrf_checks=True)
    client.force_login(get_user_model().objects.get())

    assert client.post("/recipe").status_code == 403
    assert client.post("/api/invoices").status_code == 401


@pytest.mark.usefixtures("early")
def test_view_that_django_checks_stays_as_it_is(signed_in):
    headers = {"X-CSRFToken": token(signed_in)}

    assert signed_in.client.post("/checked/plain").status_code == 403
    assert signed_in.client.post("/checked/plain", headers=headers).json()["user"] == "ann"


@pytest.mark.usefixtures("early")
def test_stale_form_of_a_page_is_shown_again(signed_in):
    form = signed_in.open(HOME)

    page = signed_in.post(form, csrfmiddlewaretoken=None)

    assert (page.status, page.heading) == (form.status, form.heading)
    assert "This form was open for too long" in page.text


@pytest.mark.usefixtures("early")
def test_value_that_another_middleware_has_set_stays(settings, signed_in):
    add(settings, signed_in, f"{__name__}.sets_user")

    response = signed_in.client.post("/exempt/plain", headers=EVIL)

    assert response.json() == {"user": "robot", "auth": False, "organization": ""}


def sets_user(get_response):
    """A middleware with credentials of its own."""

    def set_user(request):
        str(request.auth)
        request.user = get_user_model()(username="robot")
        return get_response(request)

    return set_user


DJANGO = "django.middleware.csrf.CsrfViewMiddleware"
OURS = "authservice.csrf.middleware.CsrfMiddleware"


@pytest.fixture
def with_checks(settings, signed_in):
    """`with_checks(*middleware)`: the project has these in place of Django's check."""

    def change(*middleware):
        settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name != DJANGO]
        add(settings, signed_in, *middleware)

    return change


@pytest.mark.parametrize("path", ["/checked/plain", "/exempt/plain"])
def test_forged_change_is_anonymous_without_any_middleware_that_checks(
    path, signed_in, with_checks
):
    with_checks()

    assert signed_in.client.post(path, headers=EVIL).json() == NOBODY
    headers = {"X-CSRFToken": token(signed_in)}
    assert signed_in.client.post(path, headers=headers).json()["user"] == "ann"


@pytest.mark.parametrize("path", ["/checked/plain", "/exempt/plain"])
def test_middleware_of_the_service_checks_the_change(path, signed_in, with_checks):
    with_checks(OURS)
    with mounted("authservice.csrf"):
        assert code(signed_in.client.post(path, headers=EVIL)) == (403, "INVALID_CSRF")
        headers = {"X-CSRFToken": token(signed_in)}
        assert signed_in.client.post(path, headers=headers).json()["user"] == "ann"


@pytest.mark.parametrize("path", ["/checked/plain", "/exempt/plain"])
def test_forged_change_of_an_exempt_path_is_anonymous(path, signed_in, with_checks, configure):
    with_checks(OURS)
    configure(CSRF={"EXEMPT_PATHS": ("/checked", "/exempt")})
    with mounted("authservice.csrf"):
        assert signed_in.client.post(path, headers=EVIL).json() == NOBODY
