"""Logins with identity providers."""

from __future__ import annotations

from tests.mutations.kinds import Mutation, to, without

OAUTH, _FLOW = "authservice/oauth/", "tests/oauth/flow/test_"

PROVIDERS = (
    Mutation(
        "The browser that a state belongs to",
        OAUTH + "state.py",
        to("if not crypto.matches(_BROWSER, browser.reveal(), row.target_key):", "if False:"),
        (_FLOW + "state.py",),
    ),
    Mutation(
        "The provider that a state belongs to",
        OAUTH + "state.py",
        to('if row is None or row.payload["provider"] != provider:', "if row is None:"),
        (_FLOW + "state.py",),
    ),
    Mutation(
        "The one use of a state",
        OAUTH + "flow.py",
        without("    state.consume(started)\n"),
        (_FLOW + "state.py",),
    ),
    Mutation(
        "The lifetime of a state",
        OAUTH + "state.py",
        to("expires_at=now + conf.state_ttl", "expires_at=now + 2 * conf.state_ttl"),
        (_FLOW + "state.py",),
    ),
    Mutation(
        "The verified address that links an account",
        OAUTH + "sign_in.py",
        to(
            "if arriving.profile.email_verified and conf.allow_account_linking:",
            "if conf.allow_account_linking:",
        ),
        (_FLOW + "sign_in.py", _FLOW + "takeover.py"),
    ),
    Mutation(
        "The second read of a link, after a reset between link and user",
        OAUTH + "sign_in.py",
        to("    link = links.find(arriving.provider, subject)\n", "    link = found\n"),
        (_FLOW + "takeover.py",),
    ),
    Mutation(
        "The trust in the provider",
        OAUTH + "profiles.py",
        without(" and conf.trust_email_verification"),
        (_FLOW + "sign_in.py",),
    ),
    Mutation(
        "The end of earlier access when a provider proves the address",
        OAUTH + "sign_in.py",
        to(
            "    person = first_proof.confirm_address(person, arriving.client,"
            " caller=arriving.caller)\n    storage.links().add",
            "    storage.links().add",
        ),
        (_FLOW + "takeover.py",),
    ),
    Mutation(
        "The links that an attacker has planted",
        OAUTH + "apps.py",
        without('    revoke_unverified_access = "authservice.oauth.eviction.revoke_unverified"\n'),
        (_FLOW + "takeover.py",),
    ),
    Mutation(
        "The session that started to link",
        OAUTH + "linking.py",
        to(
            "    with sessions.changing(person, session) as present:\n        # Within",
            "    with transaction.atomic():\n        present = person\n        # Within",
        ),
        (_FLOW + "linking.py",),
    ),
    Mutation(
        "The last way to log in",
        OAUTH + "linking.py",
        to("if not _can_log_in(present):", "if False:"),
        (_FLOW + "linking.py",),
    ),
    Mutation(
        "The links that a reset removes",
        OAUTH + "eviction.py",
        to("return latest >= since", "return False"),
        (_FLOW + "recovery.py",),
    ),
    Mutation(
        "The nonce that was issued for an ID token",
        OAUTH + "native.py",
        without("    _consume(provider, nonce)\n"),
        (_FLOW + "native.py",),
    ),
    Mutation(
        "The redirect addresses of native apps",
        OAUTH + "native.py",
        to("if redirect_uri not in provider.native_redirect_uris:", "if False:"),
        (_FLOW + "native.py",),
    ),
    Mutation(
        "The verifier with the code of a native app",
        OAUTH + "native.py",
        to("if not code_verifier:", "if False:"),
        (_FLOW + "native.py",),
    ),
    Mutation(
        "The owner inside sealed tokens of a provider",
        OAUTH + "sealing.py",
        to('if values["owner"].reveal() != _owner(str(link.user_id), link.provider):', "if False:"),
        (_FLOW + "tokens.py",),
    ),
)
