"""GitLab: OpenID Connect. https://docs.gitlab.com/integration/openid_connect_provider/"""

from __future__ import annotations

from authservice.oauth.openid import OpenIDProvider, OpenIDSettings


class GitLab(OpenIDProvider):
    """The subject is the user's id. `ISSUER` is the address of an instance of one's own."""

    Settings = OpenIDSettings
    issuer = "https://gitlab.com"
