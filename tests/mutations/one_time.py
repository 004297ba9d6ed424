"""Links and codes, what their mails let in, and who else may read or count."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

_ENDS = "tests/recovery/test_ends.py"

TICKETS = (
    Mutation(
        "The count of a try at a code before it is judged",
        CORE + "tickets.py",
        to("not (counted and right)", "not right"),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The tries that a code has",
        CORE + "tickets.py",
        without(", attempts__lt=TRIES"),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The comparison of a code with its digest",
        CORE + "tickets.py",
        to(
            'right = crypto.matches(_CODE, f"{purpose.name}|{target_key}|{code}", stored)',
            "right = True",
        ),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The one use of a secret",
        CORE + "tickets.py",
        to(
            "rows = _tickets().filter(pk=ticket.pk, spent_at=None, expires_at__gt=now)",
            "rows = _tickets().filter(pk=ticket.pk, expires_at__gt=now)",
        ),
        ("tests/recovery/test_verify_email.py",),
    ),
    Mutation(
        "The purpose of a link",
        CORE + "tickets.py",
        (
            ('f"{purpose.name}|{token}"', 'f"{token}"'),
            ("digest__in=digests, purpose=purpose.name", "digest__in=digests"),
        ),
        ("tests/recovery/test_purposes.py",),
        times=0,
    ),
    Mutation(
        "The address that a secret was sent to",
        CORE + "tickets.py",
        to(
            "if purpose.addressed and ticket.target_key not in",
            "if False and ticket.target_key not in",
        ),
        (_ENDS,),
    ),
    Mutation(
        "The end of a secret by a changed password",
        CORE + "tickets.py",
        to("return passwords.still(ticket.password_mark, person.user.password)", "return True"),
        (_ENDS,),
    ),
    Mutation(
        "The address beside a reset token",
        CORE + "recovery.py",
        without(" or (email and ticket.target_key != identity.email_key(email))"),
        ("tests/recovery/test_reset_by_link.py",),
    ),
    Mutation(
        "The harmlessness of a look ahead",
        CORE + "recovery_views.py",
        to("if self.looking_ahead:", "if False:"),
        ("tests/recovery/test_verify_email.py",),
    ),
    Mutation(
        "The settings as the only source of a redirect",
        CORE + "recovery_views.py",
        to(
            'onward = links.verified("error" if fault else "success")',
            'onward = query.get("next") or links.verified("error" if fault else "success")',
        ),
        ("tests/recovery/test_redirects.py", "tests/abuse/test_redirects.py"),
    ),
)

PLACES = (
    Mutation(
        "The proxies that are trusted",
        HTTP + "client.py",
        to("return hops[-proxies] if", "return hops[0] if"),
        ("tests/core/test_flood_limits.py",),
    ),
    Mutation(
        "The distrust of X-Forwarded-For",
        HTTP + "client.py",
        to("    if not proxies:\n        return peer\n", "    proxies = proxies or 1\n"),
        ("tests/core/test_flood_limits.py",),
    ),
    Mutation(
        "The network that an address stands for",
        HTTP + "client.py",
        to("(plain, 64)", "(plain, 128)"),
        ("tests/core/test_flood_limits.py",),
    ),
)

MAIL = (
    Mutation(
        "The end of access that nobody proved",
        CORE + "unproven.py",
        to("if core.wipe_unproven and", "if False and"),
        ("tests/magiclink/test_unproven.py",),
    ),
    Mutation(
        "The account whose own token keeps it",
        CORE + "unproven.py",
        to(
            "return caller is not None and caller.user.pk == person.user.pk",
            "return caller is not None",
        ),
        ("tests/magiclink/test_unproven.py",),
    ),
    Mutation(
        "The one use of a mailed link",
        "authservice/magiclink/entering.py",
        to("present = tickets.redeem(letters.purpose(), person, ticket)", "present = person"),
        ("tests/magiclink/test_signing_in.py",),
    ),
    Mutation(
        "The button between a scanner and the sign-in",
        "authservice/magiclink/views.py",
        to('if conf.confirm == "auto" and unasked', "if False"),
        ("tests/magiclink/test_confirm.py",),
    ),
    Mutation(
        "The place where the button stands",
        "authservice/magiclink/views.py",
        to('if conf.confirm == "auto" and self._pushed_elsewhere', "if False"),
        ("tests/magiclink/test_elsewhere.py",),
    ),
)
