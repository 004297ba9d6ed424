"""Examples of request and response bodies, made from their schemas.

Tools such as Swagger UI fill a form with the example; without one they generate a text from the
pattern.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

_PASSWORD = "plum tart 42 windows"  # noqa: S105 of an example
_CODE = "123456"
_TOKEN = "Zx3vQ0mW7c1JtK9sYb5RfU2eHn8LpAi4dGo6TzXwEqM"  # noqa: S105 of no one
_JWT = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl"
_UUID = "0198c2a4-6f3e-7c51-9d0b-2f4a8e6b1c37"
_CREDENTIAL_ID = "q9Zr1mV0cXhK3sTfLw7uYg"
_BYTES = "o2NmbXRkbm9uZQ"  # the start of what an authenticator returns
_CLIENT_DATA = "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0"  # {"type":"webauthn.get"}
_KEY = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"  # RFC 8037, appendix A.2
_QR_CODE = "data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E"
_OTPAUTH = "otpauth://totp/Example:ann%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Example"
_BY_FORMAT = {
    "date-time": "2026-03-01T09:30:00.000000Z",
    "date": "2026-03-01",
    "email": "ann@example.com",
    "uri": "https://example.com/",
}
# Components whose id is that of a user.
_USERS = ("AdminUser", "ChallengedUser", "MemberUser", "User")
# Numbers by the name of a property, where 1 would be strange.
_NUMBERS = {"backup_codes_remaining": 10, "expires_in": 900}
# By the name of a property; all are strings.
_BY_NAME = {
    "access_token": _JWT,
    "aaguid": _UUID,
    "action": "auth.login.success",
    "actor_id": "7",
    "actor_type": "user",
    "all_accepted_credential_ids": _CREDENTIAL_ID,
    "attestation": "none",
    "attestationObject": _BYTES,
    "authenticatorData": _BYTES,
    "avatar": "https://example.com/ann.png",
    "backup_codes": "7kq2-m9xd",
    "challenge": _TOKEN,
    "clientDataJSON": _CLIENT_DATA,
    "code": _CODE,
    "code_verifier": _TOKEN,
    "crv": "Ed25519",
    "csrf_token": _TOKEN,
    "decision": "confirm",
    "details": "Logged in.",
    "displayName": "Ann Lee",
    "display_name": "Ann Lee",
    "email": "ann@example.com",
    "field": "email",
    "first_name": "Ann",
    "id": _UUID,
    "id_token": _JWT,
    "inviter_id": "7",
    "ip_address": "203.0.113.7",
    "kid": "2026-03",
    "last_name": "Lee",
    "logo_url": "https://example.com/logo.png",
    "message": "A text for people.",
    "metadata": "{}",
    "method": "totp",
    "methods": "code",
    "name": "Ann Lee",
    "new_password": "green river 17 lamps",
    "nonce": _TOKEN,
    "old_password": _PASSWORD,
    "org_id": _UUID,
    "owner_id": "7",
    "password": _PASSWORD,
    "phone": "+4930123456",
    "phone_number": "+4930123456",
    "provider": "google",
    "providers": "google",
    "purpose": "platform",
    "qr_code": _QR_CODE,
    "qr_url": _OTPAUTH,
    "next": "https://app.example.com/cart",
    "rawId": _CREDENTIAL_ID,
    "redirect_uri": "https://example.com/callback",
    "refresh_token": _TOKEN,
    "request_id": _UUID,
    "request_token": _TOKEN,
    "role": "member",
    "residentKey": "required",
    "rpId": "example.com",
    "rp_id": "example.com",
    "secret": "JBSWY3DPEHPK3PXP",
    "severity": "info",
    "signature": _BYTES,
    "slug": "acme",
    "sort_dir": "desc",
    "sort_field": "created_at",
    "state": _TOKEN,
    "status": "pending",
    "target_id": "7",
    "target_type": "user",
    "temp_token": _TOKEN,
    "token": _TOKEN,
    "token_type": "Bearer",
    "transports": "internal",
    "type": "public-key",
    "userVerification": "required",
    "user_agent": "Mozilla/5.0",
    "user_id": "7",
    "username": "ann",
    "x": _KEY,
}
# Optional properties of requests that an example has as well, if the body has them.
_ALSO = ("name",)


def of_request(schema: Schema, components: Mapping[str, Schema]) -> Any:
    """A body that the service accepts: the first alternative, with its required properties. If none
    is required, the body has the first two properties."""
    alternatives = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    body = next((alternative for alternative in alternatives if "type" in alternative), schema)
    properties = body["properties"]
    required = body["required"]
    optional = [name for name in _ALSO if name in properties] if required else list(properties)[:2]
    return {
        name: _value(name, property_schema, components)
        for name, property_schema in properties.items()
        if name in required or name in optional
    }


def of_response(schema: Schema, components: Mapping[str, Schema]) -> Schema:
    """`example` of a response, or `examples` by the value that distinguishes its types."""
    data = schema.get("properties", {}).get("data", {})
    union = next((member for member in data.get("anyOf", ()) if "discriminator" in member), data)
    if "discriminator" not in union:
        return {"example": _value("", schema, components)}
    types = union["discriminator"]["mapping"]
    return {
        "examples": {
            name: {"value": {"data": _value("data", {"$ref": ref}, components)}}
            for name, ref in types.items()
        }
    }


def _value(name: str, schema: Schema, components: Mapping[str, Schema]) -> Any:
    """A value of this schema, for the property `name`."""
    if "$ref" in schema:
        component = schema["$ref"].rpartition("/")[2]
        value = _value(name, components[component], components)
        return {**value, "id": _BY_NAME["user_id"]} if component in _USERS else value
    alternatives = [
        member for word in ("allOf", "oneOf", "anyOf") for member in schema.get(word, ())
    ]
    for alternative in alternatives:
        # Neither null nor the empty string, which a field may accept beside its format.
        if alternative.get("type") != "null" and alternative.get("maxLength") != 0:
            return _value(name, alternative, components)
    if "enum" in schema:
        example = _BY_NAME.get(name)
        return example if example in schema["enum"] else schema["enum"][0]
    kinds = schema.get("type", [])
    kind = kinds if isinstance(kinds, str) else next(iter(kinds), "null")
    if kind == "object":
        # Optional strings only if this module has a value for them.
        return {
            property_name: _value(property_name, property_schema, components)
            for property_name, property_schema in schema.get("properties", {}).items()
            if property_name in schema["required"]
            or property_name in _BY_NAME
            or property_schema.get("type") != "string"
        }
    if kind == "array":
        return [_value(name, schema["items"], components)]
    if kind == "string":
        return _BY_NAME.get(name) or _BY_FORMAT.get(schema.get("format", ""), "text")
    integer = _NUMBERS.get(name, schema.get("minimum", 1))
    return {"boolean": True, "integer": integer, "number": 1}.get(kind)
