"""System checks of social login and its providers: cause and remedy of each id."""

from __future__ import annotations

from collections.abc import Mapping

CHECKS: Mapping[str, tuple[str, str]] = {
    # Social login
    "authservice.E200": (
        "OAUTH.PROVIDERS is set and AUTHSERVICE['API_URL'] is not, so no callback address can be"
        " made.",
        "Set it to the public origin of the service, such as 'https://api.example.com'.",
    ),
    "authservice.E204": (
        "OAUTH.STATE_TTL must be positive: every login with a provider has expired when it starts.",
        "Remove it to use 10 minutes, or set a positive duration.",
    ),
    "authservice.E205": (
        "OAUTH.DEFAULT_REDIRECT_URL or OAUTH.ERROR_REDIRECT_URL is not an http or https URL, or has"
        " a fragment. Nobody can log in with a provider.",
        "Set it to scheme, host and path, such as 'https://app.example.com/signed-in'.",
    ),
    "authservice.W205": (
        "OAUTH.DEFAULT_REDIRECT_URL or OAUTH.ERROR_REDIRECT_URL is an http URL: an attacker on the"
        " network can add a script to the page that receives the tokens.",
        "Serve the front end over https, and use its https address.",
    ),
    "authservice.E206": (
        "OAUTH.USE_SESSION_AUTH is true without the session module: logins with a provider create"
        " JWTs of the stateless module.",
        "Install 'authservice.session', or remove the setting.",
    ),
    "authservice.W206": (
        "OAUTH.USE_SESSION_AUTH is false with the session module: logins with a provider create"
        " sessions all the same.",
        "Set OAUTH.USE_SESSION_AUTH to True.",
    ),
    "authservice.E207": (
        "A storage in OAUTH cannot be imported, or lacks methods of its protocol. Logins with a"
        " provider fail.",
        "Use the dotted path of a class with the methods of authservice.oauth.storage.UserStorage"
        " (CORE_STORAGE), LinkStorage (OAUTH_STORAGE) or"
        " authservice.kernel.interfaces.SessionStore (SESSION_STORAGE).",
    ),
    "authservice.W208": (
        "OAUTH.ALLOW_SIGNUP creates accounts without a phone number, but"
        " CORE.REQUIRE_PHONE_VERIFICATION refuses their login.",
        "Set one of the two to False.",
    ),
    "authservice.E201": (
        "A key of OAUTH.PROVIDERS cannot be the name of a provider: names are part of paths.",
        "Choose another name of a-z, 0-9, '-' and '_'; 'providers' and 'linked'"
        " are paths of the module.",
    ),
    "authservice.E202": (
        "The settings of a provider in OAUTH.PROVIDERS are invalid. The provider cannot be used.",
        "Correct them; the page about providers lists the settings of each.",
    ),
    "authservice.W203": (
        "OAUTH.PROVIDERS sets PKCE for a provider that does not support it. No code challenge is"
        " sent.",
        "Remove PKCE from the settings of this provider.",
    ),
    "authservice.W261": (
        "Users from before the service was installed have a password and an address that is not"
        " proven: their first login with a provider that verifies the address removes the"
        " password.",
        "Name the addresses that the project has verified: manage.py authservice_sync_accounts"
        " --verified (see 'Verified addresses' on the page 'Your users' of the documentation). If"
        " an address is unproven because several users share it, change the address of all but one,"
        " then run this again. Or set CORE.WIPE_UNPROVEN to False.",
    ),
}
