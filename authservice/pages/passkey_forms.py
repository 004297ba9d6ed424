"""Forms that a passkey answers: the data for the script of the pages, and what the script sends.

A page has the options of its request in it. The script shows the form, asks the browser when the
user presses the button, and submits the form with the answer. Without the script the form stays
hidden, and the page works as before. The script requests nothing from the server itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from authservice.kernel import templates
from authservice.kernel.http.incoming import read_json
from authservice.kernel.languages import page_text as _
from authservice.kernel.secret import Secret
from authservice.pages import calls
from authservice.pages.calls import Values
from authservice.pages.form_fields import Sent
from authservice.pages.visitor import Visitor

METHOD = "passkey"
_LOGIN, _OPTIONS, _SIGNALS = "passkey-login", "passkey-login-options", "passkey-signals"
_SCRIPT = "authservice/pages/passkeys.js"
_LONGEST_JSON = 32_768  # characters
# Texts for what the browser could not do; the script chooses one by the name of the error. Users
# who close the dialogue see no text.
_CREATED_BEFORE = _("This device has a passkey of your account already.")
_WRONG_PLACE = _("Passkeys do not work at this address. Open this site by its usual name.")
_FAILED = _("Your browser could not use a passkey here. Try another browser or device.")


@dataclass(frozen=True, kw_only=True)
class PasskeyForm:
    """`kind` is "get" or "create", `options` is the JSON for the browser, and `hidden` goes back
    with its answer. With `autofill` the field of the username offers passkeys too; `autofill`
    is the address of the page with new options."""

    kind: str
    options: str = field(repr=False)
    button: Any
    hidden: Mapping[str, Secret]
    action: str = ""
    autofill: str = ""
    main: bool = False
    created_before: Any = _CREATED_BEFORE
    wrong_place: Any = _WRONG_PLACE
    failed: Any = _FAILED


def are_installed() -> bool:
    return calls.exists(_LOGIN)


def script() -> str:
    """The script of passkeys, which comes after that of all forms."""
    return templates.render(_SCRIPT, {})


def shown(form: PasskeyForm | None) -> dict[str, Any]:
    """The variables of a template that includes `passkey_form.html`."""
    return {"passkey": form, "script": script()} if form else {}


def of_login(visitor: Visitor) -> PasskeyForm | None:
    """The button of the login page, unless the service cannot issue options now."""
    if not are_installed():
        return None
    answer = visitor.call(_OPTIONS)
    if answer.fault is not None:
        return None
    return PasskeyForm(
        kind="get",
        options=json.dumps(answer.data["options"]),
        button=_("Sign in with a passkey"),
        hidden={"request_token": Secret(answer.data["request_token"])},
        action=visitor.url("page-passkey-login"),
        autofill=visitor.url("page-login"),
    )


def of_challenge(
    options: Mapping[str, Any], hidden: Mapping[str, Any], *, action: str, main: bool
) -> PasskeyForm | None:
    """The button of a further step of a login, or of a step-up; None if a passkey cannot answer it.
    `main` is true if the user has no other method for this step."""
    if not options:
        return None
    return PasskeyForm(
        kind="get",
        options=json.dumps(options),
        button=_("Use a passkey or security key"),
        hidden={name: _secret(value) for name, value in hidden.items() if value},
        action=action,
        main=main,
    )


def of_creation(answered: Mapping[str, Any], hidden: Mapping[str, Any]) -> PasskeyForm:
    return PasskeyForm(
        kind="create",
        options=json.dumps(answered["options"]),
        button=_("Create the passkey"),
        hidden={
            **{name: _secret(value) for name, value in hidden.items() if value},
            "request_token": Secret(answered["request_token"]),
        },
        main=True,
    )


def credential_of(sent: Sent) -> Values:
    """What the browser answered; empty if the form was sent without the script."""
    return _object(sent.get("credential"))


def options_of(sent: Sent) -> Values:
    """The options of a further step, which its form sends back, since the route that began the step
    cannot be asked again."""
    return _object(sent.get("options"))


def unknown(sent: Sent, options: str) -> str:
    """What the signal API of the browser wants to know of a passkey that no account has, as JSON;
    "" if the form has no options or no credential."""
    signal = {
        "rpId": _object(options).get("rpId", ""),
        "credentialId": str(credential_of(sent).get("id", "")),
    }
    return json.dumps(signal) if all(signal.values()) else ""


def signals(visitor: Visitor) -> str:
    """What the signal API of the browser wants to know of this user, as JSON; "" if the user never
    had a passkey."""
    user_data = visitor.data(_SIGNALS)
    if not user_data["user_id"]:
        return ""
    shared = {"rpId": user_data["rp_id"], "userId": user_data["user_id"]}
    ids = user_data["all_accepted_credential_ids"]
    names = {"name": user_data["name"], "displayName": user_data["display_name"]}
    return json.dumps([{**shared, "allAcceptedCredentialIds": ids}, {**shared, **names}])


def _secret(value: Any) -> Secret:
    return value if isinstance(value, Secret) else Secret(str(value))


def _object(text: str) -> Values:
    """The JSON object in a text; empty if the text has none, or is too long."""
    if not text or len(text) > _LONGEST_JSON:
        return Values()
    try:
        value = read_json(text)
    except ValueError:
        return Values()
    return Values(value) if isinstance(value, dict) else Values()
