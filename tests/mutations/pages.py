"""Pages for the links in mails, and the checks that help to set them up."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

_ENDPOINT = CORE + "api/link_endpoint.py"
_RESET = "tests/pages/test_reset_page.py"
_INVITATION = "tests/pages/test_invitation_page.py"
_RESULTS = "tests/pages/test_results.py"
_LINKS = "tests/core/messages/test_links.py"
INSIDE, PAGES_SETTINGS = "tests/pages/inside", "--ds=tests.pages.settings"
_SIGNED_IN = (f"{INSIDE}/test_signed_in.py", PAGES_SETTINGS)
_VISITOR = "authservice/pages/visitor.py"

PAGES = (
    Mutation(
        "The refusal of forms of another site by pages with a form",
        _ENDPOINT,
        to("if self.takes_form and pages.posted_elsewhere(request):", "if False:"),
        (_RESET,),
    ),
    Mutation(
        "The CSRF token of requests for JSON to routes with a page",
        _ENDPOINT,
        to("if plugs(LinkPages) and self._is_form:", "if plugs(LinkPages):"),
        (_RESET,),
    ),
    Mutation(
        "The rule that cookies identify no user in a form without a CSRF token",
        _ENDPOINT,
        without("            ignore_cookie(request)\n"),
        (_INVITATION,),
    ),
    Mutation(
        "The end of a session whose tokens no page can pass on",
        _ENDPOINT,
        to("        if access_token:\n", "        if False:\n"),
        (_INVITATION,),
    ),
    Mutation(
        "The tokens in JSON where a page would lose them",
        _ENDPOINT,
        to("if only_in_json and not self._drops_tokens(result.access_token):", "if False:"),
        (_RESULTS,),
    ),
    Mutation(
        "The limits on the values of a refused form",
        _ENDPOINT,
        to("fields.require(name, self._sent(name), _LONGEST)", "self._sent(name)"),
        (_RESET,),
    ),
    Mutation(
        "The state of a link before a page asks for a password",
        CORE + "api/recovery_views.py",
        to(
            'person, _ = password_reset.require_open(hidden["token"], email)',
            'person = type("Anybody", (), {"user": None})',
        ),
        (_RESET,),
    ),
    Mutation(
        "The password rules of the user of a link",
        CORE + "api/recovery_views.py",
        to("password_rules.rules_for(person.user)", "password_rules.rules_for()"),
        (_RESET,),
    ),
    Mutation(
        "The new password in reports of a crash after a form",
        HTTP + "envelope.py",
        without('        "new_password",\n'),
        (_RESET,),
    ),
    Mutation(
        "The query string that a refusal of a forged request does not log",
        "authservice/csrf/guard.py",
        to("request.path[:_LONGEST_PATH]", "request.get_full_path()[:_LONGEST_PATH]"),
        ("tests/csrf/test_reasons.py",),
    ),
    Mutation(
        "The slash between the address of a front end and a path that could name another host",
        CORE + "messages/mailed_links.py",
        to("/{path.lstrip('/')}", "{path}"),
        (f"{_LINKS}::test_link_leads_to_the_front_end_whatever_its_path_is",),
    ),
    Mutation(
        "The check of a path that browsers take for the address of another host",
        "authservice/kernel/origins.py",
        to('and not text.startswith("//") and', "and"),
        ("tests/kernel/test_rules.py",),
    ),
    Mutation(
        "The warning of a project whose URLconf does not include the service",
        CORE + "checks.py",
        to('        yield message("authservice.W013")\n', ""),
        ("tests/kernel/test_mount_checks.py",),
    ),
    Mutation(
        "The CSRF token of the forms of account pages",
        _VISITOR,
        to("self.submitted = not self.stale", "self.submitted = True"),
        (f"{INSIDE}/test_forged_forms.py", PAGES_SETTINGS),
    ),
    Mutation(
        "The refusal of a page of another site as the page after a login",
        _VISITOR,
        to("if not local or not url_has_allowed", "if not local and not url_has_allowed"),
        (f"{INSIDE}/test_sign_in.py", PAGES_SETTINGS),
    ),
    Mutation(
        "The row of a session that Django's session carries",
        CORE + "api/identity.py",
        without("                carried.require_live()\n"),
        _SIGNED_IN,
    ),
    Mutation(
        "The expiry of a carried session without access tokens of its own",
        "authservice/stateless/stateless_policy.py",
        to("if now >= min(session.idle_expires_at, session.expires_at):", "if False:"),
        _SIGNED_IN,
    ),
    Mutation(
        "The idle timeout of a carried session that is used",
        "authservice/stateless/stateless_policy.py",
        without("        after_commit(touch)\n"),
        _SIGNED_IN,
    ),
    Mutation(
        "The new key of Django's session at a login",
        CORE + "api/django_session.py",
        to("        session.cycle_key()\n", "        pass\n"),
        _SIGNED_IN,
    ),
    Mutation(
        "The cookie of a login in another tab, which a slower response does not replace",
        CORE + "api/django_session.py",
        to("if is_old and stores", "if False and stores"),
        (PAGES_SETTINGS, f"{INSIDE}/test_deleted_sessions.py"),
    ),
    Mutation(
        "The back end of a carried session, which no project authenticates with",
        CORE + "api/django_session.py",
        to("session.get(BACKEND_SESSION_KEY) != BACKEND", "False"),
        _SIGNED_IN,
    ),
    Mutation(
        "The end of the row at a logout of Django",
        CORE + "api/identity.py",
        to("    if carried:  # nothing happens", "    if False:  # nothing happens"),
        _SIGNED_IN,
    ),
    Mutation(
        "The second factor in Django admin of a session that a page began",
        CORE + "api/identity.py",
        without("                self._require_factor(carried)\n"),
        ("tests/admin/inside/test_page_sessions.py", "--ds=tests.admin.settings"),
    ),
    Mutation(
        "The word of the route that an invitation was not mailed",
        "authservice/pages/account/organization_section.py",
        to('if answer.data["mailed"] else', "if True else"),
        (f"{INSIDE}/test_account.py", PAGES_SETTINGS, "-knot_mailed"),
    ),
    Mutation(
        "The second reading of a user whom a middleware has read before the form came",
        _VISITOR,
        to("if not was_used:", "if True:"),
        (f"{INSIDE}/test_costs.py", PAGES_SETTINGS),
    ),
    Mutation(
        "The second reading of the user of a page at a retry after a deadlock",
        CORE + "api/callers.py",
        without("        request.__dict__[_KNOWN] = caller.again()\n"),
        (f"{INSIDE}/test_costs.py", PAGES_SETTINGS),
    ),
    Mutation(
        "The copy of the user that a page and its routes share",
        CORE + "sessions/bearer.py",
        to("_person_and_session=(person.copied(), used)", "_person_and_session=(person, used)"),
        (f"{INSIDE}/test_costs.py", PAGES_SETTINGS),
    ),
)
