"""Every HTML mail. `tests/pages/inside/test_account_in_browser.py` looks at the pages."""

import pytest

from authservice.kernel import templates
from authservice.notification.conf import brand
from tests.hosts.runs import ROOT
from tests.support.browser import needs_chromium, pages

pytestmark = [pytest.mark.slow, needs_chromium]

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
