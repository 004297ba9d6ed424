"""What is broken, and the tests that are to turn red.

A mutation is named for what would be lost. Its `edits` are pairs of text in `file`; each old text
must stand there as often as it is said to, or the mutation does not apply any more and has to be
written anew, for the line that took its place.
"""

from __future__ import annotations

from dataclasses import dataclass

CORE, HTTP, CSRF = "authservice/core/", "authservice/kernel/http/", "authservice/csrf/"


@dataclass(frozen=True)
class Mutation:
    lost: str
    file: str
    edits: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]
    times: int = 1

    @property
    def name(self) -> str:
        return self.lost.lower().replace(" ", "-")


def _without(line: str) -> tuple[tuple[str, str], ...]:
    return ((line, ""),)


def _to(old: str, new: str) -> tuple[tuple[str, str], ...]:
    return ((old, new),)


_INTERLEAVED = "tests/core/test_refresh_interleaved.py"
_REFRESH = "tests/core/test_refresh.py"
_ENDS = "tests/recovery/test_ends.py"
_TOKENS = "tests/core/test_access_tokens.py"

SIGN_INS = (
    Mutation(
        "One successor of a refresh token",
        CORE + "refresh.py",
        _without('        counter=param("counter", SignIn),\n'),
        (_INTERLEAVED,),
    ),
    Mutation(
        "A logout that wins over a refresh",
        CORE + "refresh.py",
        _without("        ended_at=None,\n"),
        (_INTERLEAVED,),
    ),
    Mutation(
        "The end of a stolen family",
        CORE + "refresh.py",
        _without("    _end_family(person, sign_in, client)\n"),
        (_REFRESH,),
    ),
    Mutation(
        "The proof that a refresh token is ours",
        CORE + "refresh_tokens.py",
        _to("any(hmac.compare_digest(made, self.mac) for made", "any(made for made"),
        ("tests/core/test_refresh_forgery.py",),
    ),
    Mutation(
        "The seed of the row in a refresh token",
        CORE + "refresh_tokens.py",
        _without(" + bytes.fromhex(seed)"),
        ("tests/core/test_refresh_forgery.py",),
    ),
    Mutation(
        "The end of every sign-in by a changed password",
        CORE + "sign_ins.py",
        _without("\n        and passwords.still(sign_in.password_mark, person.password)"),
        ("tests/core/test_standing.py",),
    ),
    Mutation(
        "The end of every sign-in of somebody inactive",
        CORE + "sign_ins.py",
        _without("\n        and person.active"),
        ("tests/core/test_standing.py",),
    ),
    Mutation(
        "The end of every sign-in by a raised token version",
        CORE + "sign_ins.py",
        _without("\n        and sign_in.token_version == person.token_version"),
        ("tests/core/test_standing.py",),
    ),
)

DOOR = (
    Mutation(
        "The gates before the tokens",
        CORE + "login.py",
        _to("challenges = _challenges(arrival)", "challenges = ()"),
        ("tests/kernel/test_slots.py",),
    ),
    Mutation(
        "The refusal of somebody inactive",
        CORE + "login.py",
        _to("if not person.active:", "if False:"),
        ("tests/contract/test_login.py",),
    ),
    Mutation(
        "The count of a guess before it is judged",
        CORE + "login.py",
        _to("attempts.take(guess, attempts.PASSWORD)", "None"),
        ("tests/core/test_guess_limits.py",),
    ),
    Mutation(
        "The hash in vain for somebody unknown",
        CORE + "passwords.py",
        _to("        _hash_in_vain(password)\n        return False\n", "        return False\n"),
        ("tests/core/test_one_hash.py",),
    ),
    Mutation(
        "The account that a device token is for",
        CORE + "devices.py",
        _to("fresh and owner == _owner(person)", "fresh"),
        ("tests/core/test_devices.py",),
    ),
    Mutation(
        "The end of a budget of guesses",
        CORE + "attempts_sql.py",
        _to('_OPEN = f"( TABLE.[ends_at] <= :now OR NOT ( {_SPENT} ) )"', '_OPEN = "1 = 1"'),
        ("tests/core/test_guess_limits.py",),
    ),
    Mutation(
        "The count of a guess that stands before it is judged, under ATOMIC_REQUESTS",
        HTTP + "views.py",
        _to("view = transaction.non_atomic_requests(using=alias)(view)", "pass"),
        ("tests/contract/test_transactions.py",),
    ),
)

SECRETS = (
    Mutation(
        "The count of a try at a code before it is judged",
        CORE + "tickets.py",
        _to("not (counted and right)", "not right"),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The tries that a code has",
        CORE + "tickets.py",
        _without(", attempts__lt=TRIES"),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The comparison of a code with its digest",
        CORE + "tickets.py",
        _to(
            'right = crypto.matches(_CODE, f"{purpose.name}|{target_key}|{code}", stored)',
            "right = True",
        ),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The one use of a secret",
        CORE + "tickets.py",
        _to(
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
        _to(
            "if purpose.addressed and ticket.target_key not in",
            "if False and ticket.target_key not in",
        ),
        (_ENDS,),
    ),
    Mutation(
        "The end of a secret by a changed password",
        CORE + "tickets.py",
        _to("return passwords.still(ticket.password_mark, person.user.password)", "return True"),
        (_ENDS,),
    ),
    Mutation(
        "The address beside a reset token",
        CORE + "recovery.py",
        _without(" or (email and ticket.target_key != identity.email_key(email))"),
        ("tests/recovery/test_reset_by_link.py",),
    ),
    Mutation(
        "The harmlessness of a look ahead",
        CORE + "recovery_views.py",
        _to("if self.looking_ahead:", "if False:"),
        ("tests/recovery/test_verify_email.py",),
    ),
    Mutation(
        "The settings as the only source of a redirect",
        CORE + "recovery_views.py",
        _to(
            'onward = links.verified("error" if fault else "success")',
            'onward = query.get("next") or links.verified("error" if fault else "success")',
        ),
        ("tests/recovery/test_redirects.py", "tests/abuse/test_redirects.py"),
    ),
)

TOKENS = (
    Mutation(
        "The version in an access token",
        CORE + "bearer.py",
        _to('self.claims["ver"] == person.token_version\n            and ', ""),
        (_TOKENS,),
    ),
    Mutation(
        "The user that a sign-in belongs to",
        CORE + "bearer.py",
        _without(' or found[0].id != self.claims["sub"]'),
        (_TOKENS,),
    ),
    Mutation(
        "The type of an access token",
        CORE + "access_tokens.py",
        _to('if claims["typ"] != TYPE:', "if False:"),
        (_TOKENS,),
    ),
    Mutation(
        "The issuer and audience of an access token",
        CORE + "keyring.py",
        _to(
            'if claims["iss"] != self.issuer or claims["aud"] != self.audience:',
            "if False:",
        ),
        (_TOKENS,),
    ),
    Mutation(
        "The end of an access token",
        CORE + "keyring.py",
        _to('if claims["exp"] <= time.time():', "if False:"),
        (_TOKENS,),
    ),
    Mutation(
        "The one algorithm of a key",
        CORE + "keyring.py",
        _without("                or key.alg != alg\n"),
        (_TOKENS,),
    ),
    Mutation(
        "The signature of an access token",
        CORE + "keyring.py",
        _without(
            '                or not key.verifies(signed.encode("ascii"), crypto.unb64(signature))\n'
        ),
        (_TOKENS,),
    ),
    Mutation(
        "The few members of a token's header",
        CORE + "keyring.py",
        _to("set(parsed) != _HEADER", "not set(parsed) >= _HEADER"),
        (_TOKENS,),
    ),
)

RIGHTS = (
    Mutation(
        "The guard of the routes of super admins",
        HTTP + "views.py",
        _to("if self.super_admin:", "if False:"),
        ("tests/admin_api/test_access.py",),
    ),
    Mutation(
        "The last super admin",
        CORE + "super_admins.py",
        _to("if losing and reigns(present)", "if False and reigns(present)"),
        ("tests/admin_api/test_rights.py",),
    ),
    Mutation(
        "The sight of super admins who were made by the project",
        CORE + "super_admins.py",
        _to("if host().superuser:", "if False:"),
        ("tests/admin_api/test_rights.py",),
    ),
)

FORGERY = (
    Mutation(
        "The comparison of the CSRF pair",
        CSRF + "guard.py",
        _without(" or not constant_time_compare(given, cookies.get(request, conf.cookie_name))"),
        ("tests/csrf/test_guard.py",),
    ),
    Mutation(
        "The proof that a CSRF token is ours",
        CSRF + "guard.py",
        _to("if not tokens.holds(given, sign_in_id):", "if False:"),
        ("tests/csrf/test_guard.py",),
    ),
    Mutation(
        "The sign-in that a CSRF token is for",
        CSRF + "tokens.py",
        _to("(sign_in_id is None or owner == _name(sign_in_id))", "True"),
        ("tests/csrf/test_binding.py",),
    ),
    Mutation(
        "The origin that may call",
        CSRF + "guard.py",
        _to('if not origins.may_call(origin, site, _own(request) if origin else ""):', "if False:"),
        ("tests/csrf/test_origins.py",),
    ),
    Mutation(
        "The cookie's bond to this very host",
        HTTP + "cookies.py",
        _to('return f"__Host-{plain}" if settings.secure() else plain', "return plain"),
        ("tests/core/test_cookies.py",),
    ),
    Mutation(
        "Cookies that count only beside a guard",
        HTTP + "authentication.py",
        _to('token_cookies.enabled and bool(plugs("request_guard"))', "token_cookies.enabled"),
        ("tests/core/test_cookies.py",),
    ),
)

PLACES = (
    Mutation(
        "The proxies that are trusted",
        HTTP + "client.py",
        _to("return hops[-proxies] if", "return hops[0] if"),
        ("tests/core/test_flood_limits.py",),
    ),
    Mutation(
        "The distrust of X-Forwarded-For",
        HTTP + "client.py",
        _to("    if not proxies:\n        return peer\n", "    proxies = proxies or 1\n"),
        ("tests/core/test_flood_limits.py",),
    ),
    Mutation(
        "The network that an address stands for",
        HTTP + "client.py",
        _to("(plain, 64)", "(plain, 128)"),
        ("tests/core/test_flood_limits.py",),
    ),
)

_TOLD = ("tests/kernel/test_slots.py",)
SESSIONS = (
    Mutation(
        "The owner of a session",
        CORE + "sign_ins.py",
        (
            ("        user=person.user.pk,\n        ended_at=None,\n", "        ended_at=None,\n"),
            # The mark is a person's own as well, and would hide the loss.
            ("        password_mark__in=passwords.marks(person.password),\n", ""),
        ),
        ("tests/session/test_sessions.py::TestList::test_nobody_elses_are_in_it",),
    ),
    Mutation(
        "The password that a session was made under",
        CORE + "sign_ins.py",
        _without("        password_mark__in=passwords.marks(person.password),\n"),
        ("tests/session/test_sessions.py",),
    ),
    Mutation(
        "The end of a session that idles",
        "authservice/session/policy.py",
        _to("if now >= min(session.idle_expires_at, session.expires_at) or", "if"),
        ("tests/session/test_lifetimes.py",),
    ),
    Mutation(
        "The end of a session that its last use crosses",
        "authservice/session/stores.py",
        _without("        ended_at=None,\n"),
        ("tests/session/test_lifetimes.py",),
    ),
    Mutation(
        "The word of a store that a session ended",
        "authservice/session/policy.py",
        _without(" or not self.alive(session)"),
        ("tests/session/test_stores.py",),
    ),
    Mutation(
        "The word of a store when a session is refreshed",
        CORE + "refresh.py",
        _to("if not policy().alive(sign_in):", "if False:"),
        ("tests/session/test_stores.py",),
    ),
    Mutation(
        "The refusal of sessions while their store is away",
        "authservice/session/policy.py",
        _to("        raise errors.ServiceUnavailable from away\n", "        return\n"),
        ("tests/session/test_stores.py",),
    ),
    Mutation(
        "The word to the store that one session ended",
        CORE + "sign_ins.py",
        _without("    _tell([sign_in_id] if ended else [])\n"),
        _TOLD,
    ),
    Mutation(
        "The word to the store that many sessions ended",
        CORE + "sign_ins.py",
        _without("        _tell(ids)\n"),
        _TOLD,
    ),
    Mutation(
        "The silence about ends of sessions that are undone",
        CORE + "sign_ins.py",
        _to("transaction.on_commit(tell, using=directory.database(), robust=True)", "tell()"),
        _TOLD,
    ),
    Mutation(
        "The room that the oldest session makes",
        "authservice/session/limit.py",
        _to("[most - 1 :]", "[most:]"),
        ("tests/session/test_limit.py",),
    ),
    Mutation(
        "The forgetting of the cookies of a session that ended itself",
        "authservice/session/views.py",
        _to("self.parting = token_cookies.forget", "pass"),
        ("tests/session/test_cookies.py",),
    ),
)

_LOGGED = "--ds=tests.audit.settings"
_LISTS = (_LOGGED, "tests/audit/inside/test_lists.py")
_DEEDS = (_LOGGED, "tests/audit/inside/test_deeds.py", "-kPOST")
_CLEANUP = (_LOGGED, "tests/audit/inside/test_cleanup.py")
LOG = (
    Mutation(
        "The deed that fails with its entry",
        "authservice/audit/entries.py",
        _to(
            "    _INSERT.run(directory.database(), entry)\n",
            "    try:\n        _INSERT.run(directory.database(), entry)\n"
            "    except Exception:\n        return entry\n",
        ),
        _DEEDS,
    ),
    Mutation(
        "The entry of a refused sign-in",
        CORE + "login.py",
        _without(
            '    facts.tell(_refused(person, client, "invalid_credentials", method="password"))\n'
        ),
        _DEEDS,
    ),
    Mutation(
        "The entry of an account that is guessed at",
        CORE + "change_password.py",
        _without("        facts.tell(_throttled(person, client))\n"),
        (_LOGGED, "tests/audit/inside/test_deeds.py", "-kchange-password"),
    ),
    Mutation(
        "One line of ASCII, whatever is told",
        "authservice/audit/entries.py",
        _to('separators=(",", ":"))', 'separators=(",", ":"), ensure_ascii=False)'),
        (_LOGGED, "tests/audit/inside/test_entries.py", "-kline"),
    ),
    Mutation(
        "What concerns security, kept for ever",
        "authservice/audit/conf.py",
        _to('"security.": None', '"security.": timedelta(days=90)'),
        _CLEANUP,
    ),
    Mutation(
        "The number a broken cleanup has told",
        "authservice/audit/retention.py",
        _without("            _all().filter(pk=run.pk).update(metadata=entries.as_text(said))\n"),
        _CLEANUP,
    ),
    Mutation(
        "A log that nobody edits in Django admin",
        "authservice/audit/admin.py",
        _to("EntryAdmin(ReadOnly, EntryPage)", "EntryAdmin(EntryPage)"),
        (_LOGGED, "tests/audit/inside/test_staff.py"),
    ),
    Mutation(
        "A log that nobody deletes from in Django admin",
        "authservice/audit/admin.py",
        _to("        return False\n", "        return True\n"),
        (_LOGGED, "tests/audit/inside/test_staff.py"),
    ),
    Mutation(
        "The address of staff in Django admin",
        CORE + "admin.py",
        _to("client=of_page(request))", "client=type(of_page(request))())"),
        (_LOGGED, "tests/audit/inside/test_staff.py"),
    ),
    Mutation(
        "The owner of an entry of the log",
        "authservice/audit/log.py",
        _to("[found.filter(done_by), found.filter(done_to)]", "[found]"),
        _LISTS,
    ),
    Mutation(
        "The place of whoever else acted",
        "authservice/audit/views.py",
        _to("if row.actor_id == caller:", "if True:"),
        _LISTS,
    ),
    Mutation(
        "The guard of the log of everybody",
        "authservice/audit/views.py",
        _to("    super_admin = True\n", ""),
        ("--ds=tests.audit.settings", "tests/hosts/inside/test_essentials.py"),
        times=0,
    ),
)

MAIL = (
    Mutation(
        "The end of access that nobody proved",
        CORE + "unproven.py",
        _to("if core.wipe_unproven and", "if False and"),
        ("tests/magiclink/test_unproven.py",),
    ),
    Mutation(
        "The account whose own token keeps it",
        CORE + "unproven.py",
        _to(
            "return caller is not None and caller.user.pk == person.user.pk",
            "return caller is not None",
        ),
        ("tests/magiclink/test_unproven.py",),
    ),
    Mutation(
        "The one use of a mailed link",
        "authservice/magiclink/entering.py",
        _to("present = tickets.redeem(letters.purpose(), person, ticket)", "present = person"),
        ("tests/magiclink/test_signing_in.py",),
    ),
    Mutation(
        "The button between a scanner and the sign-in",
        "authservice/magiclink/views.py",
        _to('if conf.confirm == "auto" and', "if False and"),
        ("tests/magiclink/test_confirm.py",),
    ),
)

TWO, _TWO = "authservice/twofactor/", "tests/twofactor/test_"

SECOND_FACTORS = (
    Mutation(
        "The question for a code",
        TWO + "gate.py",
        _to("if found and found.confirmed:", "if False:"),
        (_TWO + "challenge.py",),
    ),
    Mutation(
        "The one use of a time step",
        TWO + "authenticators.py",
        _to("confirmed=True, last_step__lt=step)", "confirmed=True)"),
        (_TWO + "rows.py",),
    ),
    Mutation(
        "The end of the steps before a used one",
        TWO + "totp.py",
        _to("if step > after", "if True"),
        (_TWO + "vectors.py",),
    ),
    Mutation(
        "The window of a time step",
        TWO + "totp.py",
        _to("_WINDOW = (-1, 0, 1)", "_WINDOW = (-1, 0, 1, 2)"),
        (_TWO + "vectors.py",),
    ),
    Mutation(
        "The one use of a backup code",
        TWO + "backup_codes.py",
        _without("        used_at=None,\n"),
        (_TWO + "rows.py",),
    ),
    Mutation(
        "The secret that was judged when a factor is enabled",
        TWO + "authenticators.py",
        _without(", enrolment=authenticator.enrolment"),
        (_TWO + "rows.py",),
    ),
    Mutation(
        "The enabled factor that a setup leaves",
        TWO + "authenticators.py",
        _to("filter(user=person.user.pk, confirmed=False)", "filter(user=person.user.pk)"),
        (_TWO + "setup.py",),
    ),
    Mutation(
        "The owner inside a sealed secret",
        TWO + "authenticators.py",
        _to('return secret if owner == str(authenticator.user_id) else ""', "return secret"),
        (_TWO + "verify.py",),
    ),
    Mutation(
        "The five tries of a temp_token",
        TWO + "verify_login.py",
        _without("    challenges.take_try(ticket)\n"),
        (_TWO + "challenge.py",),
    ),
    Mutation(
        "The ten tries of an account",
        TWO + "verify_login.py",
        _to("guessing.take(kind, person, client)", "guessing.counter(kind, person, client)"),
        (_TWO + "guesses.py",),
    ),
    Mutation(
        "The one use of a temp_token",
        TWO + "verify_login.py",
        _to("if not tickets.spend(ticket):", "if False:"),
        (_TWO + "challenge.py",),
    ),
    Mutation(
        "The password that a remembered device stands on",
        TWO + "remembering.py",
        _to("passwords.still(mark, person.password)", "mark"),
        (_TWO + "remembered.py",),
    ),
    Mutation(
        "The end of sign-ins where staff take a factor away",
        TWO + "removal.py",
        _without("        sign_ins.end_everywhere(person, DISABLED)\n"),
        (_TWO + "disable.py",),
    ),
)

MUTATIONS = (
    *(*SIGN_INS, *DOOR, *SECRETS, *TOKENS, *RIGHTS, *FORGERY, *PLACES),
    *(*SESSIONS, *LOG, *MAIL, *SECOND_FACTORS),
)
