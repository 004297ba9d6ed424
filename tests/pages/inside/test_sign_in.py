"""The pages before a login, as a person uses them."""

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_out
from django.utils import timezone

from authservice.core.messages import kinds
from authservice.core.models import Session
from authservice.core.users import lookup
from tests.pages.inside import serializers
from tests.pages.inside.person import set_up_of
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, prove
from tests.twofactor import people

pytestmark = pytest.mark.django_db

# What an open redirect would accept.
FOREIGN = (
    *("https://evil.example", "http://evil.example/", "//evil.example", "///evil.example"),
    *("////evil.example/%2e%2e", r"\\evil.example", r"/\evil.example", r"\/evil.example"),
    *("/\t/evil.example", "/\n/evil.example", "\t//evil.example", " //evil.example"),
    *("/%09/evil.example\\@x", "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x"),
    *("vbscript:x", "https:evil.example", "https:/evil.example", "http:///evil.example"),
    *("https://testserver@evil.example", "https://testserver.evil.example", "evil.example"),
    *("//testserver@evil.example", "//evil.example:80\\@testserver", "ftp://testserver/x"),
    *(
        "http://testserver:8000/x",
        "https:\\\\evil.example",
        "/\\/evil.example",
        "//%5cevil.example",
    ),
    *("..//evil.example", "./..//evil.example", "?next=//evil.example", "#//evil.example"),
    *("\x00//evil.example", "/\x00/evil.example", "//evil\u3002example", "\u2028//evil.example"),
    *("@evil.example", "x" * 3000, "/" + "x" * 3000),
)


@pytest.fixture
def factor(ann, api):
    """Ann with a second factor."""
    person = people.Person(api, token=ann["access_token"], user_id=ann["user"]["id"])
    return person.enrol()


def test_user_signs_in_and_gets_where_they_wanted(person, ann):
    page = person.open("/orders")
    assert (page.heading, page.url) == ("Sign in", "/auth/login?next=/orders")

    landed = person.send(page, identifier=ANN, password=PASSWORD)

    assert (landed.url, landed.html) == ("/orders", "orders of ann")
    assert Session.objects.latest("created_at").method == "password"


@pytest.mark.parametrize("name", ["ann", ANN, "ANN@Example.com", " ann@example.com "])
def test_user_signs_in_with_name_or_address(name, person, ann):
    assert person.sign_in(name, PASSWORD).heading == "Profile"


def test_wrong_password_keeps_what_was_typed(person, ann):
    page = person.sign_in(ANN, "wrong")

    assert (page.status, page.heading) == (400, "Sign in")
    assert page.alert == "Wrong e-mail, username or password."
    assert f'value="{ANN}"' in page.html
    assert "wrong" not in page.html.replace('"wrong"', "")
    assert "WWW-Authenticate" not in page.response.headers


def test_attempts_are_limited_as_in_the_api(person, ann):
    for _ in range(10):
        person.sign_in(ANN, "wrong")

    page = person.sign_in(ANN, PASSWORD)

    assert (page.status, page.alert) == (429, "Too many attempts. Try again in 15 minutes.")
    assert int(page.response.headers["Retry-After"]) > 800


@pytest.mark.parametrize("field", ["query", "form"])
@pytest.mark.parametrize("url", FOREIGN)
def test_no_foreign_address_is_a_next_page(url, field, person, ann):
    page = person.visit("/auth/login")
    if field == "query":
        page = person.visit(f"/auth/login?{_query(url)}")

    sent = person.post(page, identifier=ANN, password=PASSWORD, next=url if field == "form" else "")

    assert sent.location in ("/auth/account", "/%09/evil.example%5C@x")  # a path of this site


def _query(url):
    return urlencode({"next": url})


def test_signed_in_user_sees_no_login(signed_in):
    assert signed_in.open("/auth/login?next=/orders").html == "orders of ann"
    assert signed_in.open("/auth/signup").heading == "Profile"
    assert signed_in.open("/auth/login?again=1").heading == "Sign in"


def test_suspended_user_sees_why(person, ann):
    get_user_model().objects.update(is_active=False)

    page = person.sign_in(ANN, PASSWORD)

    assert (page.status, page.alert) == (403, "This account is not active.")


def test_unverified_user_gets_another_mail(person, ann, configure, post):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    page = person.sign_in(ANN, PASSWORD)
    assert page.status == 403

    page = person.open(page.link("Send the mail again"))
    page = person.send(page, email=ANN)

    assert page.heading == "Check your e-mail"
    assert post.kinds() == [kinds.VERIFY_EMAIL]


def test_second_factor_is_asked_for(person, factor):
    page = person.open("/auth/login?next=/orders")
    page = person.send(page, identifier=ANN, password=PASSWORD, remember="on")
    assert (page.heading, person.name) == ("Enter your code", "")

    page = person.send(page, code=factor.wrong_code())
    assert (page.status, page.errors["code"][:22]) == (400, "This code is not right")
    assert person.name == ""
    landed = person.send(page, code=factor.code(1))

    assert landed.html == "orders of ann"
    assert Session.objects.latest("created_at").amr == "pwd otp mfa"
    assert person.client.cookies["sessionid"]["max-age"]


def test_backup_code_is_a_second_factor(person, factor):
    page = person.sign_in(ANN, PASSWORD)

    assert person.send(page, code=factor.backup_codes[0]).heading == "Profile"


def test_device_is_remembered_if_the_project_allows_it(person, factor, configure):
    configure(TWOFACTOR={"REMEMBER_TTL": timedelta(days=30)})
    page = person.sign_in(ANN, PASSWORD)
    assert "Do not ask on this device for 30 days" in page.text
    person.send(page, code=factor.code(1), remember_device="on")
    person.send(person.open("/auth/logout"))

    assert person.sign_in(ANN, PASSWORD).heading == "Profile"


def test_late_code_leads_back_to_the_login(person, factor):
    page = person.sign_in(ANN, PASSWORD)

    with time_machine.travel(timezone.now() + timedelta(minutes=6), tick=True):
        page = person.send(page, code=factor.code(1))

    assert (page.heading, page.notice) == ("Sign in", "That took too long. Sign in again.")


def test_required_factor_is_set_up_at_the_login(person, ann, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"})
    page = person.sign_in(ANN, PASSWORD)
    assert page.heading == "Set up two-factor authentication"
    assert len(re.findall(r"<li><code>", page.html)) == 10

    secret = re.search(r"<code>([A-Z2-7]{16,})</code>", page.html)[1]
    app = people.app_of(f"otpauth://totp/x?secret={secret}")
    shown = set_up_of(page)
    page = person.send(page, code="000000")
    assert set(page.errors) == {"code"}
    assert (page.status, page.heading) == (400, "Set up two-factor authentication")
    assert set_up_of(page) == shown
    page = person.send(page, code=app.now())

    assert page.heading == "Profile"


def test_set_up_that_the_service_did_not_sign_is_not_shown(person, ann, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"})
    page = person.sign_in(ANN, PASSWORD)
    signed = page.forms[-1][1]["setup"]

    page = person.send(page, code="000000", setup=signed.replace("secret", "forged"))

    assert "<code>" not in page.html
    assert page.heading == "Enter your code"


def test_second_factor_page_needs_a_login_first(person, factor):
    assert person.open("/auth/2fa/verify-login").heading == "Sign in"


def test_visitor_signs_up(person, post):
    page = person.open("/auth/signup?next=/orders")

    landed = person.send(page, name="Ann Lee", email=ANN, password=PASSWORD)

    assert landed.html == "orders of ann"
    assert lookup.find_by_email(ANN).account_row.name == "Ann Lee"
    assert post.kinds() == [kinds.VERIFY_EMAIL]


@pytest.mark.parametrize(
    ("typed", "field"), [({"password": "12345678"}, "password"), ({"email": ANN}, "email")]
)
def test_refused_sign_up_names_the_field(typed, field, person, ann):
    page = person.open("/auth/signup")

    page = person.send(page, **{"email": "bob@example.com", "password": PASSWORD, **typed})

    assert (page.status, list(page.errors)) == (400, [field])


def test_sign_up_that_must_be_verified_leads_to_the_mailbox(person, configure, post):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    page = person.send(person.open("/auth/signup"), email=ANN, password=PASSWORD)
    assert (page.heading, person.name) == ("Check your e-mail", "")

    page = person.open(post.link(kinds.VERIFY_EMAIL))

    assert page.heading == "Your e-mail address is confirmed"
    assert person.sign_in(ANN, PASSWORD).heading == "Profile"


def test_hidden_sign_up_tells_nothing(person, ann, configure, api):
    configure(CORE={"SIGNUP_ENUMERATION": "hide", "REQUIRE_EMAIL_VERIFICATION": True})
    pages = [
        person.send(person.open("/auth/signup"), email=email, password=PASSWORD)
        for email in (ANN, "new@example.com")
    ]

    texts = [page.text.replace(ANN, "?").replace("new@example.com", "?") for page in pages]
    assert texts[0] == texts[1]


def test_closed_sign_up_says_so(person, configure):
    configure(CORE={"ALLOW_SIGNUP": False})

    assert "by invitation only" in person.open("/auth/signup").text
    assert "Create an account" not in person.open("/auth/login").text


def test_sign_up_has_fields_of_the_project(person, configure):
    configure(CORE={"SIGNUP_SERIALIZER": "tests.pages.inside.serializers.Extra"})
    page = person.open("/auth/signup")
    assert 'type="date"' in page.html

    page = person.send(page, email=ANN, password=PASSWORD, size="", birthday="yesterday")
    assert set(page.errors) == {"birthday", "size"}
    page = person.send(
        page, email=ANN, password=PASSWORD, size="m", birthday="2001-02-03", terms="on"
    )

    assert page.heading == "Profile"
    assert serializers.stored == {
        "birthday": serializers.date(2001, 2, 3),
        "size": "m",
        "terms": True,
        "shoes": None,
    }


def test_forgotten_password_is_replaced(person, ann, post):
    page = person.open(person.open("/auth/login").link("Forgot your password?"))
    page = person.send(page, email=ANN)
    assert page.heading == "Check your e-mail"

    page = person.open(post.link(kinds.RESET_BY_LINK))
    page = person.send(page, new_password=NEW)

    assert page.heading == "Your password was changed"
    assert person.sign_in(ANN, NEW).heading == "Profile"


@pytest.mark.parametrize("page", ["forgot-password", "magic-link/send", "send-verification-email"])
def test_mailbox_does_not_say_who_has_an_account(page, person, ann):
    texts = [
        person.send(person.open(f"/auth/{page}"), email=email).text.replace(email, "?")
        for email in (ANN, "nobody@example.com")
    ]

    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("forgot-password", kinds.RESET_BY_LINK),
        ("magic-link/send", "magic-link"),
        ("send-verification-email", kinds.VERIFY_EMAIL),
    ],
)
def test_mail_is_sent_again_by_one_button(path, kind, person, ann, post):
    page = person.send(person.open(f"/auth/{path}?next=/orders"), email=ANN)
    assert page.notice == ""

    page = person.send(page)

    assert (page.heading, page.notice) == (
        "Check your e-mail",
        "If so, another mail is on its way.",
    )
    assert post.kinds().count(kind) == 2
    assert "next=/orders" in page.forms[-1][0].replace("%2F", "/")


def test_mailed_link_signs_in_and_remembers_the_page(person, ann, post):
    page = person.open(person.open("/orders").link("Send me a link instead"))
    person.send(page, email=ANN)

    landed = person.open(post.link("magic-link"))

    assert landed.html == "orders of ann"


def test_mailed_code_signs_in(person, ann, post):
    page = person.send(person.open("/auth/magic-link/send?next=/orders"), email=ANN)

    page = person.send(page, 0, code="000000")
    assert page.errors == {"code": "This code is not right, or it has expired."}
    landed = person.send(page, 0, code=post.code("magic-link"))

    assert landed.html == "orders of ann"


def test_link_opened_elsewhere_asks_first(person, ann, post, api):
    api.post("magic-link/send", email=ANN)

    page = person.open(post.link("magic-link"))
    assert person.name == ""
    person.send(page)

    assert person.name == "ann"


def test_mailed_link_asks_for_the_second_factor(person, factor, post):
    prove()
    person.send(person.open("/auth/magic-link/send"), email=ANN)

    page = person.open(post.link("magic-link"))
    assert (page.heading, person.name) == ("Enter your code", "")
    person.send(page, code=factor.code(1))

    assert person.name == "ann"


def test_sign_out_needs_a_button(signed_in):
    page = signed_in.open("/auth/logout")
    assert (page.heading, signed_in.name) == ("Sign out?", "ann")

    page = signed_in.send(page)

    assert (page.heading, signed_in.name) == ("You are signed out", "")
    assert "no-store" in page.response.headers["Cache-Control"]


def test_programs_get_what_they_got_before(api, ann):
    """At the address of each page, a client of the API sees no page."""
    assert api.get("login").error == (405, "METHOD_NOT_ALLOWED")
    assert api.post("login", email=ANN, password=PASSWORD).status == 200
    assert api.post("login", email=ANN, password="wrong").error == (401, "INVALID_CREDENTIALS")
    assert api.post("signup", email="x").error == (400, "VALIDATION_ERROR")
    assert api.post("logout", token=ann["access_token"]).status == 200
    assert api.get("account").error == (404, "NOT_FOUND")


def test_login_may_lead_to_a_home_on_another_host(person, ann, settings):
    """Browsers check the redirect after a form against the policy of its page."""
    settings.LOGIN_REDIRECT_URL = "https://app.example.com/start"
    page = person.open("/auth/login")

    sent = person.post(page, identifier=ANN, password=PASSWORD)

    assert sent.location == "https://app.example.com/start"
    policy = page.response.headers["Content-Security-Policy"]
    assert "form-action 'self' https://app.example.com;" in policy


@pytest.fixture
def stays(person):
    """Whether the session of this browser outlives it."""
    return lambda: bool(person.client.cookies["sessionid"]["max-age"])


@pytest.mark.parametrize(("remember", "lasts"), [("on", True), (None, False)])
def test_mailed_link_keeps_the_choice_to_stay_signed_in(remember, lasts, person, ann, post, stays):
    person.send(person.open("/auth/magic-link/send"), email=ANN, remember=remember)

    person.open(post.link("magic-link"))

    assert (person.name, stays()) == ("ann", lasts)
    left = person.client.cookies.get("authservice_remember")
    assert not (left and left.value)


@pytest.mark.parametrize(("remember", "lasts"), [("on", True), (None, False)])
def test_mailed_code_keeps_the_choice_to_stay_signed_in(remember, lasts, person, ann, post, stays):
    page = person.send(person.open("/auth/magic-link/send"), email=ANN, remember=remember)
    page = person.send(page, code="000000")

    person.send(page, 0, code=post.code("magic-link"))

    assert (person.name, stays()) == ("ann", lasts)


def test_choice_to_stay_signed_in_survives_a_second_factor_after_a_link(
    person, factor, post, stays
):
    prove()
    person.send(person.open("/auth/magic-link/send"), email=ANN, remember="on")
    page = person.open(post.link("magic-link"))
    assert page.heading == "Enter your code"

    person.send(page, code=factor.code(1))

    assert (person.name, stays()) == ("ann", True)


def test_choice_for_a_mail_does_not_count_for_a_password(person, ann, stays):
    person.send(person.open("/auth/magic-link/send"), email=ANN, remember="on")

    person.sign_in(ANN, PASSWORD)

    assert (person.name, stays()) == ("ann", False)


def test_dead_link_leads_to_the_page_that_mails_another(person, ann):
    page = person.open("/auth/magic-link/verify?token=x")

    assert page.link("Send a new link") == "/auth/magic-link/send"
    assert page.link("Back to sign in") == "/auth/login"


def test_error_that_no_new_link_mends_leads_to_the_login(person):
    page = person.open("/auth/oauth/nobody/callback")

    assert (page.status, page.link("Back to sign in")) == (404, "/auth/login")
    assert "Send a new link" not in page.text


def test_choice_to_stay_signed_in_is_shown_again_after_a_wrong_password(person, ann):
    page = person.send(person.open("/auth/login"), identifier=ANN, password="wrong", remember="on")

    assert page.alert
    assert 'name="remember" autocomplete="off" checked' in page.html


def test_sign_out_is_signalled_once(signed_in, django_user_model):
    seen = []

    def signed_out(user, **_):
        seen.append(user)

    user_logged_out.connect(signed_out)
    try:
        signed_in.send(signed_in.open("/auth/logout"))
    finally:
        user_logged_out.disconnect(signed_out)

    assert seen == [django_user_model.objects.get(username="ann")]
    assert signed_in.open("/auth/account/profile").heading == "Sign in"


def test_reason_why_a_form_is_refused_is_logged(person, ann, caplog):
    page = person.open("/auth/login")

    person.send(page, identifier=ANN, password=PASSWORD, csrfmiddlewaretoken="x" * 32)

    assert "Forbidden (CSRF token" in caplog.text
    assert PASSWORD not in caplog.text
