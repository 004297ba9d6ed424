"""Any OAuth 2.0 back end of social-auth-core as a provider, by its dotted path in `BACKEND`.

Only what a back end knows of its provider is used: endpoints, default scopes, and how to read a
profile. State, PKCE, the code exchange and the requests are ours. social-auth-core is imported with
this file, which is not imported before a provider with a `BACKEND` is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import requests
from django.utils.module_loading import import_string
from social_core.backends.oauth import BaseOAuth2
from social_core.strategy import BaseStrategy

from authservice.kernel.languages import phrase
from authservice.kernel.outbound import http_client
from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth.oauth2 import OAuth2Provider, logger
from authservice.oauth.provider import Flow, Profile, ProviderTokens, UserInfoFailed
from authservice.oauth.provider_settings import ProviderSettings


@dataclass(frozen=True, kw_only=True)
class SocialCoreSettings(ProviderSettings):
    backend: str = ""
    """Dotted path of the back end, such as `"social_core.backends.spotify.SpotifyOAuth2"`."""
    backend_settings: Mapping[str, Any] = field(default_factory=dict)
    """Its own settings, without the prefix `SOCIAL_AUTH_<NAME>_`."""

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        try:
            kind = import_string(self.backend)
        except ImportError as error:
            yield f"['BACKEND'] is {self.backend!r}, which cannot be imported: {error}"
            return
        if not (isinstance(kind, type) and issubclass(kind, BaseOAuth2)):
            yield f"['BACKEND'] is {self.backend!r}, which is not an OAuth 2.0 back end."


class SocialCoreProvider(OAuth2Provider):
    """The subject is what the back end takes for the user's id. Back ends do not say whether an
    address is verified, so none is."""

    Settings: ClassVar[type[ProviderSettings]] = SocialCoreSettings

    def authorization_base(self) -> str:
        return self.settings.authorization_url or self._backend().authorization_url()

    def token_url(self) -> str:
        return self.settings.token_url or self._backend().access_token_url()

    def uses_basic(self) -> bool:
        return bool(self._backend().use_basic_auth())

    def authorization_parameters(self, flow: Flow) -> dict[str, str]:
        backend = self._backend()
        parameters = {**backend.auth_extra_arguments(), **super().authorization_parameters(flow)}
        scopes = read.scopes(self.settings.scopes) or backend.DEFAULT_SCOPE or ()
        del parameters["scope"]
        return {**parameters, backend.SCOPE_PARAMETER_NAME: backend.SCOPE_SEPARATOR.join(scopes)}

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        try:
            return self._profile(self._backend(), tokens)
        except Exception as error:
            # Back ends raise anything for a profile that they cannot read, and their frames have
            # the token in local variables.
            logger.warning("%s: no user info (%s)", self.name, type(error).__name__)
            raise UserInfoFailed(phrase("The provider did not send the profile.")) from None

    def _profile(self, backend: BaseOAuth2[Any], tokens: ProviderTokens) -> Profile:
        answer = {"access_token": tokens.access_token.reveal()}
        data = backend.user_data(tokens.access_token.reveal(), response=answer) or {}
        details = backend.get_user_details(data)
        return Profile(
            subject=read.subject(backend.get_user_id(details, data)),  # type: ignore[no-untyped-call]
            email=read.address(details.get("email")),
            name=read.text(details.get("fullname")),
            first_name=read.text(details.get("first_name")),
            last_name=read.text(details.get("last_name")),
        )

    def _backend(self) -> BaseOAuth2[Any]:
        kind = import_string(self.settings.backend)
        outbound_class = type(kind.__name__, (_Outbound, kind), {"service": self.name})
        backend: BaseOAuth2[Any] = outbound_class(_Strategy(kind.name, self.settings))
        return backend


if TYPE_CHECKING:
    _BaseStrategy = BaseStrategy[Any]
else:
    # `BaseStrategy` is generic since social-auth-core 7.0, but not in older releases.
    _BaseStrategy = BaseStrategy


class _Strategy(_BaseStrategy):
    """Answers settings of this provider alone: the strategies of social-auth-core fall back to
    settings of the project with names such as `KEY` and `PROXIES`."""

    def __init__(self, name: str, settings: SocialCoreSettings) -> None:
        super().__init__()
        self._prefix = f"SOCIAL_AUTH_{name.upper().replace('-', '_')}_"
        self._settings = settings

    def get_setting(self, name: str) -> Any:
        if not name.startswith(self._prefix):
            raise KeyError(name)  # `BaseStrategy.setting` returns its default then
        name = name.removeprefix(self._prefix)
        if name == "KEY":
            return self._settings.client_id
        if name == "SECRET":
            return self._settings.client_secret.reveal()
        return self._settings.backend_settings[name]

    def build_absolute_uri(self, path: str | None = None) -> str:
        # The redirect address is that of the flow.
        return path or ""

    def request_data(self, merge: bool = True) -> dict[str, Any]:
        # Nothing of a back end is read from the callback.
        return {}


class _Outbound:
    """Sends the requests of a back end by our client."""

    service: ClassVar[str]

    def request(self, url: str, **options: Any) -> requests.Response:
        """Raises `OutboundError`, also for a status that is not 2xx."""
        request_options = {
            name: value
            for name, value in options.items()
            if name in ("headers", "data", "json", "auth", "params")
        }
        prepared = requests.Request(options.get("method", "GET"), url, **request_options).prepare()
        response = http_client.send(
            prepared.method or "GET",
            prepared.url or "",
            service=self.service,
            headers={name: Secret(_text(value)) for name, value in prepared.headers.items()},
            body=_body(prepared.body),
        )
        response.raise_for_status()
        converted = requests.Response()
        converted.status_code = response.status
        converted.headers.update(response.headers)
        converted._content = response.body
        return converted


def _body(content: Any) -> Secret | None:
    # Back ends send forms and JSON, never files.
    return Secret(_text(content)) if content else None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
