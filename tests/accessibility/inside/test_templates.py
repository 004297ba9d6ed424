"""Every page that a mailed link opens and every HTML mail, in each of their states."""

import pytest

from authservice.kernel import templates
from authservice.notification.conf import brand
from authservice.pages import preview
from tests.hosts.runs import ROOT
from tests.support.browser import needs_chromium, pages

pytestmark = [pytest.mark.slow, needs_chromium]

EMAIL = {"email": "ann@example.com", "account": "ann@example.com", "action": "/"}
FAULT = {"errors": {"code": "Wrong.", "name": "Wrong.", "password": "Wrong.", "form": ""}}
STATES = [{"state": "done"}, {"state": "failed", "message": "It failed."}, {}]
# Each page, with the contexts that change it.
PAGES = {
    "authservice/core/secure_account.html": STATES,
    "authservice/magiclink/confirm.html": [{}],
    "authservice/pages/accept_invitation.html": [{}, {"organization": "Acme"}, FAULT],
    "authservice/pages/change_email.html": [{}],
    "authservice/pages/delete_account.html": STATES,
    "authservice/pages/reset_password.html": [{}, {"errors": {"new_password": "Wrong."}}],
    "authservice/pages/result.html": [
        {"heading": "Done", "text": "It is done.", "home_url": "/"},
        {"heading": "Failed", "text": "It failed.", "failed": True},
    ],
    "authservice/pages/second_factor.html": [{}, FAULT],
    "authservice/pages/verify_email.html": [{}],
}
# All that any mail shows.
MAIL = {
    **{"name": "Ann", "email": "ann@example.com", "new_email": "new@example.com"},
    **{"link": "https://example.com/x?token=of-a-mail", "expires_in": "1 hour", "code": "123456"},
    **{"at": "2 January 2030", "ip_address": "203.0.113.7", "user_agent": "Firefox on Linux"},
    **{"organization": "Acme", "inviter": "Bob", "provider": "GitHub", "changed": ["email"]},
    **{"last": True, "more": 2, "subject": "A mail"},
    "sessions": [{"at": "2 January 2030", "ip_address": "203.0.113.7", "user_agent": "Firefox"}],
}
# A mail program shows a mail inside of its own page, which has the landmarks, and the subject above
# it as the heading.
OF_THE_MAIL_PROGRAM = {"landmark-one-main": "*", "page-has-heading-one": "*", "region": "*"}


def in_the_tree(pattern):
    """The paths of templates, as Django finds them."""
    files = ROOT.glob(f"authservice/*/templates/{pattern}")
    return {str(file).partition("/templates/")[2]: file for file in files}


def test_every_page_is_listed():
    pages = in_the_tree("authservice/**/*.html")
    ours = {path for path, file in pages.items() if "pages/base.html" in file.read_text()[:60]}

    # `tests/pages/inside/test_account_in_browser.py` looks at each of these.
    walked = {f"authservice/pages/{template}" for template, _ in preview.shown().values()}
    frames = {"authservice/pages/account_base.html", "authservice/pages/preview.html"}
    assert ours - walked == set(PAGES) - walked | frames


def test_pages_of_mailed_links(found):
    given = [
        (f"/{path}/{number}", templates.render(path, {"brand": {"name": "Plum"}, **EMAIL, **more}))
        for path, contexts in PAGES.items()
        for number, more in enumerate(contexts)
    ]
    with pages(dict(given)) as origin:
        wrong = {path: found(origin + path, "phone") for path, _ in given}

    assert {path: one for path, one in wrong.items() if one} == {}


def test_html_mails_have_no_violation(found, configure):
    configure(NOTIFICATION={"BRAND": {"name": "Plum", "support_email": "help@example.com"}})
    kinds = in_the_tree("authservice/notification/*/body.html")
    given = {f"/{path}": templates.render(path, {"brand": brand(), **MAIL}) for path in kinds}
    with pages(given) as origin:
        # A mail has the same colours in the dark.
        options = {"schemes": ["light"], "known": OF_THE_MAIL_PROGRAM}
        wrong = {path: found(origin + path, **options) for path in given}

    assert len(given) > 20
    assert {path: one for path, one in wrong.items() if one} == {}
