"""Sphinx configuration: `python -m sphinx -W docs docs/_build`."""

import posixpath
import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from authservice import __version__  # noqa: E402 only found after the line above

project = "authservice"
author = "The authservice authors"
copyright = f"2026, {author}"  # noqa: A001 Sphinx's name for it
version = release = __version__

# A list of the pages for code hosts, which show no table of contents.
exclude_patterns = ["_build", "README.rst"]
html_extra_path = ["llms.txt"]
default_role = "literal"
nitpicky = True
highlight_language = "python"

html_theme = "furo"
html_title = f"authservice {release}"

# Words that people type into the search, and that no heading of the page has.
# Build into an empty folder: an incremental build loses them.
SYNONYMS = {
    "account": "account deletion, change e-mail, delete account",
    "audit": "audit log",
    "coming_from/index": "migrate, migration",
    "csrf": "csrf, xsrf",
    "front_end/bearer": "bearer, single-page app, spa",
    "front_end/nextjs": "nextjs",
    "front_end/templates": "login template, server-rendered",
    "front_end/web_and_mobile": "web and mobile",
    "google_on_your_laptop": "localhost, local provider, mock",
    "installing": "smtp, quickstart",
    "languages": "i18n, localization, translations",
    "magiclink": "magic link, passwordless, otp by email",
    "managing": "django admin",
    "not_included": (
        "anonymous users, api key, api keys, machine token, machine tokens, oauth provider,"
        " oidc provider, openid provider, sso"
    ),
    "oauth": "social login, social auth",
    "oauth_providers": "apple, facebook, google, github, microsoft, openid connect",
    "organization": "custom role, custom roles, rbac, roles, teams",
    "pages": (
        "appearance, branding, css, customize, customize login page, hosted ui, login page,"
        " logo, look and feel, styling, theme, themes, theming"
    ),
    "passwords": "haveibeenpwned, have i been pwned, pwned passwords",
    "passkeys": "fido2, security key, webauthn",
    "recipes/bots": "brute force, fraud",
    "recipes/login": (
        "htmx, ldap, logout all devices, logout everywhere, sign out all devices, sign out"
        " everywhere"
    ),
    "recipes/sms": "phone, phone number, sms login, twilio",
    "reference/limits": "lockout, rate limit, rate limits, rate limiting, throttle, throttling",
    "running/backup": "backup, disaster recovery, lost secret_key, secret_key lost",
    "running/doctor": "health check",
    "running/keys": (
        "key rotation, rotate, rotate keys, rotate signing key, rotate signing keys, rotation"
    ),
    "session": "device, devices, log out everywhere",
    "tenants": "multitenancy, multi tenant, user pool, user pools",
    "tokens": "jwks, jwt, logout, signing key",
    "twofactor": "2fa, backup codes, mfa, recovery codes, totp, two-factor",
    "users": "auth_user_model, own user model, user model",
    "views": "permissions, decorator, websocket",
    "your_data": (
        "data protection, dsgvo, gdpr, gdpr delete, gdpr export, right to be forgotten,"
        " erase, export data"
    ),
}


def setup(app: Sphinx) -> None:
    app.add_transform(LinksToPages)
    app.add_transform(Synonyms)


class LinksToPages(SphinxTransform):
    """Links to `.rst` files become links to their pages.

    Pages to which the README links have such links instead of roles, because a code host shows them
    without Sphinx. A link to a missing page or anchor is a warning, as with a role.
    """

    default_priority = 5

    def apply(self) -> None:
        for link in list(self.document.findall(nodes.reference)):
            path, _, anchor = link.get("refuri", "").partition("#")
            if path.endswith(".rst") and "://" not in path:
                name = posixpath.join("/", posixpath.dirname(self.env.docname), path[:-4])
                target = anchor or posixpath.normpath(name)
                options = {"refdoc": self.env.docname, "refdomain": "std", "refwarn": True}
                kind = {"reftype": "ref" if anchor else "doc", "reftarget": target}
                children = [nodes.inline("", "", *link.children)]
                link.replace_self(
                    addnodes.pending_xref("", *children, refexplicit=True, **options, **kind)
                )


class Synonyms(SphinxTransform):
    """Adds the words of `SYNONYMS` to the index, whose entries the search shows first."""

    default_priority = 5

    def apply(self) -> None:
        words = SYNONYMS.get(self.env.docname, "").split(", ")
        entries = [("single", word, "search", "main", None) for word in words if word]
        if entries:
            section = next(self.document.findall(nodes.section))
            target = nodes.target("", "", ids=["search"])
            section[1:1] = [addnodes.index(entries=entries), target]
