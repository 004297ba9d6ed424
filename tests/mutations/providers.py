"""Logins with identity providers."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

OAUTH, _FLOW = "authservice/oauth/", "tests/oauth/flow/test_"

PROVIDERS = (
    Mutation(
        "The browser that a state belongs to",
        OAUTH + "state.py",
        to("if not secret.matches(_BROWSER, browser.reveal(), row.target_key):", "if False:"),
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
            "if arriving.profile.email_verified and provider_settings",
            "if provider_settings",
        ),
        (_FLOW + "sign_in.py", _FLOW + "takeover.py"),
    ),
    Mutation(
        "The second read of a link, after a reset between link and user",
        OAUTH + "sign_in.py",
        without("        _require_link(arriving, link)\n"),
        (_FLOW + "takeover.py", _FLOW + "removed_access.py"),
    ),
    Mutation(
        "The second read of a link whose user proves the address of the account",
        OAUTH + "sign_in.py",
        to('was linked."""\n    _require_link(arriving, link)\n', 'was linked."""\n'),
        (_FLOW + "removed_access.py",),
    ),
    Mutation(
        "The setting that stores tokens, for a link of a signed-in user",
        OAUTH + "linking.py",
        to(
            "stored_tokens = tokens if conf.store_provider_tokens else None",
            "stored_tokens = tokens",
        ),
        (_FLOW + "tokens.py",),
    ),
    Mutation(
        "The limit on new accounts by a provider",
        OAUTH + "sign_in.py",
        without('    throttling.count("signup", arriving.client.network)\n'),
        (_FLOW + "sign_in.py",),
    ),
    Mutation(
        "The proof that stays when the login is refused",
        CORE + "login/login.py",
        to("            return _Refusal(changed, fault)", "            raise fault"),
        (_FLOW + "sign_in.py",),
    ),
    Mutation(
        "The provider of the link that is removed",
        OAUTH + "storage.py",
        to("user=link.user_id, provider=link.provider, subject", "user=link.user_id, subject"),
        (_FLOW + "linking.py", _FLOW + "tokens.py"),
    ),
    Mutation(
        "The second look at a user who was suspended since the first",
        OAUTH + "sign_in.py",
        without(" or not present.active"),
        (_FLOW + "sign_in.py",),
    ),
    Mutation(
        "The domains of a provider",
        OAUTH + "provider_settings.py",
        to("return domain in {", "return True or domain in {"),
        (_FLOW + "vouching.py",),
    ),
    Mutation(
        "The domains of a provider that a signed-in user links",
        OAUTH + "linking.py",
        to("profile = profiles.cleaned(result.profile, provider)", "profile = result.profile"),
        (_FLOW + "vouching.py",),
    ),
    Mutation(
        "The accounts that are never linked by address",
        OAUTH + "linking.py",
        to("if person.has_rights:", "if False:"),
        (_FLOW + "vouching.py",),
    ),
    Mutation(
        "The count of refusals that say that an address is taken",
        OAUTH + "sign_in.py",
        to(
            '    throttling.count("is-available", arriving.client.network)\n    login.record',
            "    login.record",
        ),
        (_FLOW + "vouching.py",),
    ),
    Mutation(
        "The record of a removed link",
        OAUTH + "linking.py",
        to("if eviction.was_removed(person.user.pk, provider, subject):", "if False:"),
        (_FLOW + "removed_access.py",),
    ),
    Mutation(
        "The 72 hours after a recovery without new links by address",
        OAUTH + "linking.py",
        to("if recovered_at and recovered_at >", "if False and recovered_at >"),
        (_FLOW + "removed_access.py",),
    ),
    Mutation(
        "The end of the sessions that began with a removed provider",
        OAUTH + "eviction.py",
        without("    sessions.end_begun_with(link.user_id, method, current_session, _REASON)\n"),
        (_FLOW + "removed_access.py",),
    ),
    Mutation(
        "The removed provider that only the first recovery restores",
        OAUTH + "eviction.py",
        without(", recoveries__lte=1"),
        (_FLOW + "removed_links.py",),
    ),
    Mutation(
        "The trust in the provider",
        OAUTH + "profiles.py",
        without(" and conf.trust_email_verification"),
        (_FLOW + "sign_in.py",),
    ),
    Mutation(
        "The second factor before a provider is linked by the address",
        OAUTH + "sign_in.py",
        to(
            "pending.update(linking.pending(arriving.link(present)))",
            "linking.add_by_address(present, arriving.link(present), arriving.client, before)",
        ),
        (_FLOW + "linking_after_factor.py",),
    ),
    Mutation(
        "The rules for a link after the second factor",
        OAUTH + "linking.py",
        without("        require_linkable_by_address(person, link.provider, link.subject)\n"),
        (_FLOW + "linking_after_factor.py",),
    ),
    Mutation(
        "The refusal of a second identity before the code is asked for",
        OAUTH + "sign_in.py",
        to(
            "        if outcome.challenges:\n            linking",
            "        if False:\n            linking",
        ),
        (_FLOW + "linking_after_factor.py",),
    ),
    Mutation(
        "The settings of the provider after the second factor",
        OAUTH + "linking.py",
        to("if provider is None or not provider.enabled:", "if False:"),
        (_FLOW + "linking_after_factor.py",),
    ),
    Mutation(
        "The attempt with a right code that is given back where the link is refused",
        CORE + "login/login.py",
        to(
            "                attempt.refund()\n            refusal",
            "                pass\n            refusal",
        ),
        (_FLOW + "linking_after_factor.py",),
    ),
    Mutation(
        "The attempt at the temp_token that is given back where the link is refused",
        CORE + "login/login.py",
        to("            refusal.give_back()\n", ""),
        (_FLOW + "linking_after_factor.py",),
    ),
    Mutation(
        "The end of earlier access when a provider proves the address",
        OAUTH + "sign_in.py",
        to(
            "return first_proof.confirm_address(present, arriving.client, caller=arriving.caller)",
            "return present",
        ),
        (_FLOW + "takeover.py",),
    ),
    Mutation(
        "The links that an attacker has planted",
        OAUTH + "apps.py",
        without('    account_access = "authservice.oauth.linking.account_access"\n'),
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
        to("if not can_log_in:", "if False:"),
        (_FLOW + "linking.py",),
    ),
    Mutation(
        "The links that a reset removes",
        OAUTH + "eviction.py",
        to("if not link.at_signup and (", "if False and ("),
        (_FLOW + "recovery.py",),
    ),
    Mutation(
        "The nonce that was issued for an ID token",
        OAUTH + "flow.py",
        without("    _consume_nonce(provider, nonce)\n"),
        (_FLOW + "native.py",),
    ),
    Mutation(
        "The redirect addresses of native apps",
        OAUTH + "flow.py",
        to("if redirect_uri not in provider.native_redirect_uris:", "if False:"),
        (_FLOW + "native.py",),
    ),
    Mutation(
        "The verifier with the code of a native app",
        OAUTH + "flow.py",
        to("if not code_verifier:", "if False:"),
        (_FLOW + "native.py",),
    ),
    Mutation(
        "The owner inside sealed tokens of a provider",
        OAUTH + "tokens.py",
        to('if values["owner"].reveal() != _owner(str(link.user_id), link.provider):', "if False:"),
        (_FLOW + "tokens.py",),
    ),
    Mutation(
        "The verified flag of the address of an identity that a signed-in user links",
        OAUTH + "linking.py",
        to("if profile.email_verified and present.email_key", "if present.email_key"),
        (_FLOW + "linking.py",),
    ),
)
