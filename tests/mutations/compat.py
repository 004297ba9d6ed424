"""Modules for projects that come from another package."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_SIMPLEJWT = "authservice/compat/simplejwt/"
_TESTS = ("--ds=tests.compat.settings", "tests/compat/inside")

COMPAT = (
    Mutation(
        "The valid session of a token that simplejwt's verify accepts",
        _SIMPLEJWT + "views.py",
        without(".require_live()"),
        _TESTS,
    ),
    Mutation(
        "The refusal of a replaced refresh token by simplejwt's verify and blacklist",
        CORE + "sessions/rotation.py",
        to(
            "    if token.counter != session.counter:\n        raise errors.InvalidRefreshToken\n",
            "",
        ),
        _TESTS,
    ),
    Mutation(
        "The device of a browser, which a form of another site cannot replace",
        _SIMPLEJWT + "views.py",
        to("if self.request.content_type != FORM:", "if True:"),
        _TESTS,
    ),
    Mutation(
        "The user whom a traded token names",
        _SIMPLEJWT + "trade.py",
        to("    if str(claims.get(api_settings.USER_ID_CLAIM)) != user_id:\n", "    if False:\n"),
        _TESTS,
    ),
    Mutation(
        "The time until which tokens are traded",
        _SIMPLEJWT + "trade.py",
        without(" or now >= until.timestamp()"),
        _TESTS,
    ),
    Mutation(
        "The time before which a traded token was issued",
        _SIMPLEJWT + "trade.py",
        to("if issued_at >= issued_before.timestamp():", "if False:"),
        _TESTS,
    ),
    Mutation(
        "The block list row of a traded token",
        _SIMPLEJWT + "trade.py",
        to("            blocked().create(token=listed)\n", "            pass\n"),
        _TESTS,
    ),
    Mutation(
        "The end of a session whose traded token was replayed",
        _SIMPLEJWT + "trade.py",
        to(
            "        if blocked().filter(token=row).exists():\n"
            "            return rotation.replayed(session_id, client)\n",
            "        if blocked().filter(token=row).exists():\n"
            "            raise errors.InvalidRefreshToken\n",
        ),
        _TESTS,
    ),
    Mutation(
        "The end of a session by a logout with its traded token",
        _SIMPLEJWT + "trade.py",
        without("    rotation.replayed(_session_id(row), client)\n"),
        _TESTS,
    ),
    Mutation(
        "The session of a traded token whose block was deleted",
        CORE + "login/foreign_tokens.py",
        without(" or existing.exists()"),
        _TESTS,
    ),
    Mutation(
        "The cookie to trade, which stays after an error of the server",
        CORE + "api/token_cookies.py",
        to(
            "        except errors.InvalidRefreshToken:\n            # The browser",
            "        except Exception:\n            # The browser",
        ),
        _TESTS,
    ),
    Mutation(
        "The login of staff who hold a token to trade",
        CORE + "login/foreign_tokens.py",
        without(" or person.has_rights"),
        _TESTS,
    ),
    Mutation(
        "The refusal of a traded token of an inactive user",
        CORE + "login/foreign_tokens.py",
        without(" or login.login_refusal(person) is not None"),
        _TESTS,
    ),
    Mutation(
        "The rule that a traded token is no recent login",
        "authservice/kernel/levels.py",
        without(" or LEGACY in proofs"),
        _TESTS,
    ),
    Mutation(
        "The same rule for traded tokens in views of the project",
        "authservice/permissions.py",
        to("return proof is not None and", "return proof is None or"),
        _TESTS,
    ),
    Mutation(
        "The end of old tokens that could be traded after a changed password",
        CORE + "sessions/sessions.py",
        without("    revoke_foreign_tokens([person.user.pk])\n"),
        _TESTS,
    ),
    Mutation(
        "The end of old tokens that could be traded after all sessions ended",
        CORE + "sessions/sessions.py",
        without("    revoke_foreign_tokens(users)\n"),
        _TESTS,
    ),
)
