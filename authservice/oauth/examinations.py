"""What `authservice_doctor` examines of identity providers: whether a login with them can work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from authservice.kernel import clock
from authservice.kernel.checks import (
    BROKEN,
    CALL,
    OK,
    Finding,
    Visit,
    fault_of,
    skew,
)
from authservice.kernel.outbound import BadStatus, OutboundError, Refused, http_client
from authservice.oauth import claims, provider_settings
from authservice.oauth.openid import METADATA_PATH, OpenIDProvider, is_key_set

# Seconds. A smaller difference of the clocks is not reported: the header `Date` has whole seconds,
# and a cache in front of the provider may have an older one.
_EXACT = 30.0


@dataclass(frozen=True)
class _Answer:
    """What a provider answered. `fault` is empty if a login can work, otherwise `setting` is the
    key to change. `ahead` are the seconds by which the clock of the provider is ahead of ours."""

    fault: str = ""
    setting: str = ""
    ahead: float = 0.0


class _InvalidDocument(Exception):
    """A document is not what a login needs. Has the fault and the key of the setting to change."""

    def __init__(self, fault: str, setting: str) -> None:
        super().__init__(fault)
        self.fault, self.setting = fault, setting


def examine_providers(visit: Visit) -> Iterator[Finding]:
    """Whether the metadata and the keys of each enabled provider can be read."""
    targets = list(_providers())
    # Asked at the same time. Each answer is a function that returns the result or raises.
    answers = visit.calls([partial(_examined, provider) for provider in targets])
    for provider, answer in zip(targets, answers, strict=True):
        where = f"OAUTH.PROVIDERS[{provider.name!r}]"
        try:
            result = answer()
        except Exception as error:
            result = _Answer(fault_of(error), "ISSUER")
        if not result.fault:
            text = f"{provider.name}: metadata and keys can be read."
            yield Finding(area="providers", state=OK, text=text)
            if abs(result.ahead) >= _EXACT:
                yield skew(f"the provider {provider.name!r}", result.ahead)
            continue
        yield Finding(
            area="providers",
            state=BROKEN,
            text=f"{where}: {result.fault.rstrip('.')}. Users cannot log in with"
            f" {provider.name!r}.",
            settings=f"{where}[{result.setting!r}]",
            remedy=f"Open {_metadata_url(provider) or provider.issuer} in a browser: its `issuer`"
            " must equal ISSUER exactly. If it opens there but not here, see docs: outbound. With"
            " ENABLED: False users see no button for it meanwhile.",
        )
    rest = len([entry for entry in provider_settings.configured().values() if entry.enabled]) - len(
        targets
    )
    if rest:
        text = f"Enabled providers without metadata, which were not asked: {rest}."
        yield Finding(area="providers", state=OK, text=text)


def _providers() -> Iterator[OpenIDProvider]:
    """The enabled OpenID Connect providers. One with invalid settings is left out."""
    for entry in provider_settings.configured().values():
        if not entry.enabled:
            continue
        try:
            provider = provider_settings.built(entry.name)
        except ImproperlyConfigured:
            continue  # the check E202 reports it
        if isinstance(provider, OpenIDProvider):
            yield provider


def _metadata_url(provider: OpenIDProvider) -> str:
    return f"{provider.issuer.rstrip('/')}{METADATA_PATH}" if provider.discovers else ""


def _examined(provider: OpenIDProvider) -> _Answer:
    """Request the documents that a login needs, also if this process has cached them."""
    try:
        if url := _metadata_url(provider):
            metadata, _ = _document(provider, url, "ISSUER")
            issuer = claims.text(claims.mapping(metadata).get("issuer"))
            if issuer != provider.issuer:
                fault = f"its metadata are of the issuer {issuer!r}, not of {provider.issuer!r}"
                raise _InvalidDocument(fault, "ISSUER")
            keys_url = provider.settings.jwks_url or claims.text(metadata.get("jwks_uri"))
        else:
            keys_url = provider.jwks_url()
        if not keys_url:
            raise _InvalidDocument("its metadata name no keys (jwks_uri)", "JWKS_URL")
        keys, date = _document(provider, keys_url, "JWKS_URL")
        if not is_key_set(keys) or not keys["keys"]:
            raise _InvalidDocument("its key set has no keys", "JWKS_URL")
    except _InvalidDocument as error:
        return _Answer(error.fault, error.setting)
    try:
        ahead = parsedate_to_datetime(date).timestamp() - clock.timestamp()
    except ValueError:
        ahead = 0.0
    return _Answer(ahead=ahead)


def _document(provider: OpenIDProvider, url: str, setting: str) -> tuple[Any, str]:
    """The JSON document and the header `Date`. Raises `_InvalidDocument` with the setting to
    change."""
    document_name = "metadata" if setting == "ISSUER" else "keys"
    timeout = timedelta(seconds=CALL / 2)  # two documents in the time of a call
    try:
        response = http_client.send("GET", url, service=provider.name, headers={}, timeout=timeout)
        response.raise_for_status()
        return response.json(), response.headers.get("date", "")
    except BadStatus as error:
        raise _InvalidDocument(
            f"its {document_name} at {url} are answered with the status {error.code}", setting
        ) from None
    except Refused as error:
        raise _InvalidDocument(
            f"its {document_name} were not requested: {error}", setting
        ) from None
    except OutboundError as error:
        raise _InvalidDocument(
            f"its {document_name} at {url} cannot be read: {fault_of(error)}", setting
        ) from None
