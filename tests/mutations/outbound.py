"""Requests to other services, and what providers of social login send."""

from __future__ import annotations

from tests.mutations.kinds import Mutation, to, without

_KERNEL = "authservice/kernel/outbound/"
_OAUTH = "authservice/oauth/"
_CLIENT = "tests/kernel/outbound/test_client.py"
_HOSTILE = "tests/kernel/outbound/test_hostile_servers.py"
_ADDRESSES = "tests/kernel/outbound/test_addresses.py"
_PROVIDERS = "tests/oauth/providers/"

OUTBOUND = (
    Mutation(
        "The check of each address of a host",
        _KERNEL + "addresses.py",
        to("    for address in answer:\n", "    for address in answer[:1]:\n"),
        (f"{_ADDRESSES}::test_name_with_a_public_and_a_private_address_is_refused",),
    ),
    Mutation(
        "The metadata services of clouds among refused addresses",
        _KERNEL + "addresses.py",
        to("    if address in _METADATA:\n", "    if False:\n"),
        (f"{_ADDRESSES}::test_link_local_metadata_and_tunnel_addresses_are_never_allowed",),
    ),
    Mutation(
        "The private addresses inside NAT64",
        _KERNEL + "addresses.py",
        to("    elif address in _NAT64:\n", "    elif False:\n"),
        (f"{_ADDRESSES}::test_private_address_is_allowed_by_name_alone",),
    ),
    Mutation(
        "The connection to the address that was checked",
        _KERNEL + "http_client.py",
        to(
            "received = exchange(target, resolved,",
            "received = exchange(target, [target.host],",
        ),
        (f"{_CLIENT}::test_connection_goes_to_the_address_that_was_checked",),
    ),
    Mutation(
        "The host name in TLS",
        _KERNEL + "transport.py",
        to("server_hostname=to.host,", "assert_hostname=False,"),
        (f"{_CLIENT}::test_certificate_is_checked_against_the_host_name",),
    ),
    Mutation(
        "The end of a connection whose time is over",
        _KERNEL + "transport.py",
        without("        self._timer.start()\n"),
        (f"{_HOSTILE}::test_server_that_drips_over_tls_is_given_up",),
    ),
    Mutation(
        "The limit of requests in flight",
        _KERNEL + "http_client.py",
        to("slots.acquire(blocking=False)", "(slots.acquire(timeout=1) or True)"),
        (f"{_HOSTILE}::test_service_that_hangs_occupies_no_more_than_its_limit",),
    ),
    Mutation(
        "The refusal of requests inside a transaction",
        _KERNEL + "http_client.py",
        to(
            "any(map(databases.is_transaction_open, connections.all(initialized_only=True)))",
            "False",
        ),
        (f"{_CLIENT}::test_request_inside_a_transaction_is_refused",),
    ),
)
PROVIDERS = (
    Mutation(
        "The verifier of the code challenge",
        _OAUTH + "oauth2.py",
        to('            form["code_verifier"] = flow.code_verifier\n', "            pass\n"),
        (f"{_PROVIDERS}test_profiles.py::test_discord_profile",),
    ),
    Mutation(
        "The nonce of an ID token",
        _OAUTH + "id_tokens.py",
        to("    if expected.nonce is not None and", "    if False and"),
        (f"{_PROVIDERS}test_openid_callback.py::test_callback_compares_the_nonce_of_the_flow",),
    ),
    Mutation(
        "The authorized party of an ID token",
        _OAUTH + "id_tokens.py",
        to(" if party is None else party in expected.audiences", ""),
        (f"{_PROVIDERS}test_id_tokens.py::test_token_with_a_wrong_claim_is_refused",),
    ),
    Mutation(
        "The issuer of an ID token",
        _OAUTH + "id_tokens.py",
        to("    if not expected.is_issuer(claims):\n", "    if False:\n"),
        (f"{_PROVIDERS}test_id_tokens.py::test_token_with_a_wrong_claim_is_refused",),
    ),
    Mutation(
        "The issuer of a callback",
        _OAUTH + "openid.py",
        without("        self.check_response_issuer(parameters)\n"),
        (
            f"{_PROVIDERS}test_openid_callback.py::"
            "test_callback_of_another_issuer_is_refused_before_the_code_is_sent",
        ),
    ),
    Mutation(
        "The issuer of the metadata",
        _OAUTH + "openid.py",
        to('        if read.mapping(document).get("issuer") == self.issuer:', "        if True:"),
        (f"{_PROVIDERS}test_openid.py::test_metadata_of_another_issuer_are_refused",),
    ),
    Mutation(
        "The access token that belongs to the ID token",
        _OAUTH + "id_tokens.py",
        to("    if claim != secret.b64(digest[: len(digest) // 2]):", "    if False:"),
        (f"{_PROVIDERS}test_openid_callback.py::test_hash_of_the_access_token_is_compared",),
    ),
    Mutation(
        "The keys that stay in use while the provider answers something else",
        _OAUTH + "openid.py",
        to("            if not self._accepts(document):", "            if False:"),
        (f"{_PROVIDERS}test_keys.py::test_keys_stay_in_use_while_the_provider_is_away",),
    ),
    Mutation(
        "The subject of the user info",
        _OAUTH + "openid.py",
        to(
            '        if read.subject(userinfo.get("sub")) != read.subject(claims["sub"]):\n',
            "        if False:\n",
        ),
        (f"{_PROVIDERS}test_openid_callback.py::test_profile_of_another_user_is_refused",),
    ),
    Mutation(
        "The refusal of a subject that means nothing",
        _OAUTH + "claims.py",
        to(" or value.strip().lower() in _NO_SUBJECT", ""),
        (f"{_PROVIDERS}test_named.py::test_missing_or_meaningless_subject_is_refused",),
    ),
    Mutation(
        "The flag of a verified address at GitHub",
        _OAUTH + "providers/plain_oauth2.py",
        to('return best["email"], rank(best)[1]', 'return best["email"], True'),
        (f"{_PROVIDERS}test_github.py::test_github_address_is_chosen_from_the_list",),
    ),
)
