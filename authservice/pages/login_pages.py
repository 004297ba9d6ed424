"""The pages before a login: sign in, sign up, second factor, forgotten password, mailed link."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse

from authservice.core.api import identity
from authservice.core.conf import core
from authservice.core.errors import InvalidCredentials
from authservice.kernel import settings
from authservice.kernel.errors import Fault
from authservice.kernel.hooks import Refused
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.languages import page_count
from authservice.kernel.languages import page_text as _
from authservice.kernel.link_pages import ResultPage
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.pages import calls, form_errors, form_fields, passkey_forms, provider_marks
from authservice.pages.calls import Answer, Values
from authservice.pages.conf import conf
from authservice.pages.form_fields import Field
from authservice.pages.visitor import Visitor, page, status_of

_MAGIC_LINK, _FACTOR, _SET_UP = "send-magic-link", "2fa-verify-login", "2fa-setup-login"


@page(route="login")
def log_in(visitor: Visitor) -> HttpResponse:
    # A user who is signed in gets the form only to prove again who they are.
    again = "again" in visitor.request.GET
    if visitor.caller is not None and not visitor.submitted and not again:
        if not visitor.was_sent_on:
            return visitor.send_on()
        # The page that they wanted to see has redirected them back: this account may not see it, as
        # with Django's `permission_required`. Another redirect to that page would start a loop.
        name = str(visitor.person.email or visitor.person.user.get_username())
        response = _login_page(visitor, signed_in_as=name)
        response.status_code = 403
        return response
    if not visitor.submitted:
        return _login_page(visitor)
    name = visitor.sent.get("identifier")
    body = Values(form_fields.as_identifier(name), password=visitor.sent.get("password"))
    return _proceed(
        visitor, visitor.call("login", body=body), lambda fault: _login_page(visitor, fault)
    )


@page(route="passkey-login")
def passkey_login(visitor: Visitor) -> HttpResponse:
    """Receives the form of the passkey button, which the script submits with the answer of the
    browser."""
    if visitor.request.method != "POST":
        return visitor.go(visitor.url("page-login"))
    if not visitor.submitted:
        return _login_page(visitor)
    body = Values(
        request_token=visitor.sent.get("request_token"),
        credential=passkey_forms.credential_of(visitor.sent),
    )
    return _proceed(
        visitor, visitor.call("passkey-login", body=body), lambda fault: _login_page(visitor, fault)
    )


def _login_page(
    visitor: Visitor, fault: Fault | None = None, *, signed_in_as: str = ""
) -> HttpResponse:
    passkey = passkey_forms.of_login(visitor)
    identifier = form_fields.identifier()
    if passkey:
        identifier = replace(identifier, autocomplete=f"{identifier.autocomplete} webauthn")
    form = (identifier, form_fields.password())
    errors = form_errors.of_form(visitor, fault, form)
    if fault and fault.code == InvalidCredentials.code:
        errors = {"": form_fields.wrong_login()}
    # If the login needs a verified address, the page leads to another verification link.
    is_unverified = fault is not None and fault.code == "EMAIL_NOT_VERIFIED"
    context = {
        **_fields(visitor, form, errors),
        **passkey_forms.shown(passkey),
        "action": visitor.url("page-login"),
        "providers": _providers(visitor),
        "sign_up": visitor.url("page-signup") if core.allow_signup else "",
        "forgot": visitor.url("page-forgot-password"),
        "mailed_link": visitor.url("page-magic-link") if calls.exists(_MAGIC_LINK) else "",
        "unverified": visitor.url("page-verify") if is_unverified else "",
        "remember": "remember" in visitor.sent,
        "signed_in_as": signed_in_as,
        "signed_in_elsewhere": not visitor.submitted and _has_other_login(visitor),
        "account": reverse("authservice:page-account"),
    }
    if passkey and fault and fault.code == "PASSKEY_UNKNOWN":
        context["unknown"] = passkey_forms.unknown(visitor.sent, passkey.options)
    response = _page(visitor, "login.html", context, fault)
    visitor.keep_next(response)
    return response


def _has_other_login(visitor: Visitor) -> bool:
    """Whether a login of the project, such as that of Django admin or allauth, has signed the
    visitor in. The pages of the account need a session of this service."""
    return visitor.caller is None and bool(identity.of(visitor.request).user.is_authenticated)


@page(route="signup")
def sign_up(visitor: Visitor) -> HttpResponse:
    if visitor.caller is not None and not visitor.submitted:
        return visitor.go(visitor.destination)
    form = form_fields.of_signup(conf.signup_fields)
    if not visitor.submitted:
        return _signup_page(visitor, form)
    body = _body(visitor, form)
    answer = visitor.call("signup", body=body)
    if answer.fault is None and answer.data["status"] in ("verification_required", "sent"):
        return _mailbox(visitor, body.get("email", ""), "page-verify", is_new=True)
    if isinstance(answer.fault, Refused) and answer.fault.account_exists:
        # Sent again, the form would say that the address is taken.
        context = {
            "heading": _("Your account was created"),
            "text": answer.fault.text,
            "onward": (visitor.url("page-login"), _("Back to sign in")),
        }
        return visitor.show("result.html", context, status=status_of(answer.fault))
    if (
        answer.fault is None
        and answer.data["status"] == "signed_in"
        and visitor.sent.get("passkeys")
    ):
        # The script fills in `passkeys` if this device has an authenticator of its own: offer to
        # create a passkey now.
        onward = _first_passkey(visitor)
        return visitor.sign_in(Secret(answer.data["access_token"]), onward=onward)
    return _proceed(visitor, answer, lambda fault: _signup_page(visitor, form, fault))


def _signup_page(
    visitor: Visitor, form: Sequence[Field], fault: Fault | None = None
) -> HttpResponse:
    context = {
        **_fields(visitor, form, form_errors.of_signup(visitor, fault, form)),
        "providers": _providers(visitor),
        "log_in": visitor.url("page-login"),
        "closed": not core.allow_signup,
        **(
            {"passkeys": True, "script": passkey_forms.script()}
            if passkey_forms.are_installed()
            else {}
        ),
        "by_passkey": _signup_by_passkey(visitor),
    }
    response = _page(visitor, "signup.html", context, fault)
    visitor.keep_next(response)
    return response


def _signup_by_passkey(visitor: Visitor) -> str:
    """The page that mails a link to a new account without a password, which leads to its first
    passkey. Only a proven address keeps that passkey, so it cannot come before the mail."""
    creates = settings.find("MAGICLINK", "auto_register", False) and core.allow_signup
    if not (creates and _passkey_page() and calls.exists(_MAGIC_LINK)):
        return ""
    onward = {"next": _first_passkey(visitor)}
    return f"{reverse('authservice:page-magic-link')}?{urlencode(onward)}"


def _first_passkey(visitor: Visitor) -> str:
    """The page that creates a passkey, and then leads where the visitor wanted to go."""
    return f"{_passkey_page()}?{urlencode({'next': visitor.destination})}"


def _passkey_page() -> str:
    return (
        reverse("authservice:page-account-security-passkey")
        if passkey_forms.are_installed()
        else ""
    )


@page(route="forgot-password")
def forgot_password(visitor: Visitor) -> HttpResponse:
    return _ask_for_mail(
        visitor,
        "forgot-password",
        heading=_("Forgot your password?"),
        text=_("We will e-mail you a link to choose a new one."),
        again="page-forgot-password",
    )


@page(route=_MAGIC_LINK)
def magic_link(visitor: Visitor) -> HttpResponse:
    heading = _("Sign in by e-mail")
    text = _("We will e-mail you a link and a code. Either signs you in.")
    if visitor.next.partition("?")[0] == _passkey_page() and _signup_by_passkey(visitor):
        heading = _("Use a passkey instead of a password")
        text = _("We will e-mail you a link and a code. Then your browser creates the passkey.")
    return _ask_for_mail(
        visitor,
        _MAGIC_LINK,
        heading=heading,
        text=text,
        again="page-magic-link",
        code="page-magic-code",
    )


@page(route="send-verification-email")
def verify(visitor: Visitor) -> HttpResponse:
    return _ask_for_mail(
        visitor,
        "send-verification-email",
        heading=_("Confirm your address"),
        text=_("We will e-mail you a link that confirms your e-mail address."),
        again="page-verify",
    )


def _ask_for_mail(
    visitor: Visitor, route: str, *, heading: str, text: str, again: str, code: str = ""
) -> HttpResponse:
    """A page that asks for an address, to which a route sends a mail; it does not say whether the
    address has an account."""
    form = (replace(form_fields.EMAIL, autocomplete="username"),)
    # Only a mail with a code signs the user in, so only its form asks whether to stay signed in.
    remember = (replace(form_fields.REMEMBER, value=visitor.remembered),) if code else ()
    fault = None
    if visitor.submitted:
        body = _body(visitor, form)
        answer = visitor.call(route, body=body)
        if answer.fault is None:
            return _mailbox(visitor, body["email"], again, code=code)
        fault = answer.fault
    context = {
        **_fields(visitor, (*form, *remember), form_errors.of_form(visitor, fault, form)),
        "heading": heading,
        "text": text,
        "button": _("Send the mail"),
        "log_in": visitor.url("page-login"),
    }
    return _page(visitor, "ask_for_mail.html", context, fault)


def _mailbox(
    visitor: Visitor, email: str, again: str, *, code: str = "", is_new: bool = False
) -> HttpResponse:
    """The page after a mail. Only after a sign-up (`is_new`) it is certain that there is one."""
    context = {
        "is_new": is_new,
        "email": email,
        "again": visitor.url(again),
        "log_in": visitor.url("page-login"),
        "code_url": visitor.url(code) if code else "",
        "fields": [form_fields.MAILED_CODE.shown(None, {})],
        "remember": "remember" in visitor.sent,
        "notice": _("If so, another mail is on its way.") if "again" in visitor.sent else "",
    }
    response = visitor.show("mailbox.html", context)
    visitor.keep_next(response)
    if code:
        visitor.keep_remember(response)
    return response


@page(route="magic-link-verify-code")
def magic_code(visitor: Visitor) -> HttpResponse:
    form = (form_fields.EMAIL, form_fields.MAILED_CODE)
    if not visitor.submitted:
        return visitor.go(visitor.url("page-magic-link"))

    def again(fault: Fault) -> HttpResponse:
        errors = form_errors.of_form(visitor, fault, (form_fields.MAILED_CODE,))
        context = {
            **_fields(visitor, (form_fields.MAILED_CODE,), errors),
            "email": visitor.sent.get("email"),
            "again": visitor.url("page-magic-link"),
            "log_in": visitor.url("page-login"),
            "code_url": visitor.url("page-magic-code"),
            "remember": "remember" in visitor.sent,
        }
        return visitor.show("mailbox.html", context, status=status_of(fault))

    answer = visitor.call("magic-link-verify-code", body=_body(visitor, form))
    return _proceed(visitor, answer, again)


@page(route=_FACTOR)
def second_factor(visitor: Visitor) -> HttpResponse:
    """The second step of a login. Its `temp_token` is in the form alone, so a form whose CSRF token
    is missing is shown again, with the same `temp_token`."""
    temp_token = Secret(visitor.sent.get("temp_token"))
    if visitor.request.method != "POST" or not temp_token:
        return visitor.go(visitor.url("page-login"))
    remember = "remember" in visitor.sent
    # The form sends back what the challenge said, since it cannot be asked for again.
    challenge = {
        "passkey": passkey_forms.options_of(visitor.sent),
        "methods": visitor.sent.get("methods").split(),
    }
    setup = form_fields.unpacked(visitor.sent)

    def again(fault: Fault | None = None) -> HttpResponse:
        if fault and _forbids_login(fault):
            return visitor.failed(fault)  # another code would not help
        if setup and (fault is None or fault.code != "INVALID_TOKEN"):
            return _set_up_page(visitor, temp_token, setup, fault, remember=remember)
        return _factor_page(visitor, temp_token, challenge, fault, remember=remember)

    if visitor.stale:
        return again()
    body = Values(temp_token=temp_token.reveal(), remember_device="remember_device" in visitor.sent)
    if credential := passkey_forms.credential_of(visitor.sent):
        body["credential"] = credential
    else:
        body["code"] = visitor.sent.get("code")
    return _proceed(visitor, visitor.call(_FACTOR, body=body), again)


def _forbids_login(fault: Fault) -> bool:
    """Whether a module refused to store what the login left pending, such as a new link to a
    provider."""
    return any(
        fault.code == refusal.code for access in plugs(AccountAccess) for refusal in access.faults
    )


def _factor_page(
    visitor: Visitor,
    temp_token: Secret,
    challenge: Mapping[str, Any],
    fault: Fault | None = None,
    *,
    remember: bool,
) -> HttpResponse:
    """`challenge` may have `passkey`, the options for the browser, and `methods`."""
    action = visitor.url("page-second-factor")
    methods = " ".join(challenge.get("methods", ()))
    only_passkey = methods == passkey_forms.METHOD
    options = challenge.get("passkey", {})
    sent_back = {
        "temp_token": temp_token,
        "methods": methods,
        "options": json.dumps(options),
        "remember": "on" if remember else "",
    }
    passkey = passkey_forms.of_challenge(options, sent_back, action=action, main=only_passkey)
    errors = form_errors.of_form(visitor, fault, (form_fields.FACTOR,))
    if fault and fault.code == "INVALID_TOKEN":
        return visitor.go(visitor.url("page-login"), _("That took too long. Sign in again."))
    # The label of the checkbox that remembers this device; "" if the service remembers none.
    days = (settings.find("TWOFACTOR", "remember_ttl", None) or timedelta()) / timedelta(days=1)
    may_remember = str(_("Do not ask on this device for a while")) if days else ""
    if days >= 1:
        may_remember = page_count(
            "Do not ask on this device for %(count)d day",
            "Do not ask on this device for %(count)d days",
            int(days),
        )
    context = {
        **_fields(visitor, () if only_passkey else (form_fields.FACTOR,), errors),
        **passkey_forms.shown(passkey),
        "temp_token": temp_token,
        "methods": methods,
        "only_passkey": only_passkey,
        "action": action,
        "log_in": visitor.url("page-login"),
        "may_remember": may_remember,
        "remember": remember,
    }
    return _page(visitor, "second_factor.html", context, fault)


@page(route="logout")
def log_out(visitor: Visitor) -> HttpResponse:
    """A visit shows a button: a link or an image of another site signs nobody out."""
    if visitor.is_nobody:
        return visitor.show("signed_out.html", {"log_in": visitor.url("page-login")})
    if not visitor.submitted:
        return visitor.show("log_out.html", {})
    visitor.sign_out()
    return visitor.go(visitor.url("page-logout"))


def enter(visitor: Visitor, data: Mapping[str, Any], *, remember: bool = False) -> HttpResponse:
    """What follows on a login that a route has answered: the first page, or a further step."""
    if data["status"] == "signed_in":
        return visitor.sign_in(Secret(data["access_token"]), remember=remember)
    first = data["challenges"][0]
    temp_token = Secret(first["data"]["temp_token"])
    if first["type"] == "2fa":
        return _factor_page(visitor, temp_token, first["data"], remember=remember)
    answer = visitor.call(_SET_UP, body=Values(temp_token=temp_token.reveal()))
    if answer.fault is not None:
        return visitor.failed(answer.fault)
    return _set_up_page(visitor, temp_token, answer.data, remember=remember)


def _set_up_page(
    visitor: Visitor,
    temp_token: Secret,
    setup: Mapping[str, Any],
    fault: Fault | None = None,
    *,
    remember: bool,
) -> HttpResponse:
    form = (form_fields.CODE,)
    context = {
        **_fields(visitor, form, form_errors.of_form(visitor, fault, form)),
        "setup": setup,
        "packed": form_fields.packed(setup),
        "temp_token": temp_token,
        "action": visitor.url("page-second-factor"),
        "remember": remember,
    }
    return _page(visitor, "set_up_factor.html", context, fault)


def enter_by_link(visitor: Visitor, page: ResultPage) -> HttpResponse:
    """What follows on the result of a mailed link or a provider, as `enter` for a login."""
    # The form of the mail asks whether to stay signed in. The button of a provider cannot: it is a
    # link, since the Content-Security-Policy would forbid a form the way to the provider's host.
    remember = visitor.remembered and page.route != "oauth-callback"
    if page.access_token:
        return visitor.sign_in(page.access_token, remember=remember)
    data = Values(page.challenge_data, temp_token=page.temp_token.reveal())
    challenges = [{"type": page.challenge, "data": data}]
    return enter(visitor, {"status": "challenge", "challenges": challenges}, remember=remember)


def _proceed(
    visitor: Visitor, answer: Answer, again: Callable[[Fault], HttpResponse]
) -> HttpResponse:
    if answer.fault is not None:
        return again(answer.fault)
    return enter(visitor, answer.data, remember="remember" in visitor.sent)


def _providers(visitor: Visitor) -> list[dict[str, str]]:
    if not calls.exists("oauth-providers"):
        return []
    return [
        provider_button(
            provider["name"], reverse("authservice:oauth", kwargs={"provider": provider["name"]})
        )
        for provider in visitor.data("oauth-providers")["providers"]
        if provider["enabled"]
    ]


def provider_button(name: str, url: str) -> dict[str, str]:
    """What the template of the buttons shows of a provider."""
    label = provider_label(name)
    return {"name": name, "label": label, "mark": provider_marks.of(name, label), "url": url}


def provider_label(name: str) -> str:
    return str(conf.provider_names.get(name) or _NAMES.get(name) or name.title())


_NAMES = {
    "github": "GitHub",
    "gitlab": "GitLab",
    "linkedin": "LinkedIn",
    "oidc": "OpenID",
    "openid": "OpenID",
    "sso": "SSO",
}


def _body(visitor: Visitor, form: Sequence[Field]) -> dict[str, Any]:
    return Values((field.name, field.typed(visitor.sent)) for field in form)


def _fields(visitor: Visitor, form: Sequence[Field], errors: Mapping[str, str]) -> dict[str, Any]:
    filled = [field.shown(visitor.typed, errors) for field in form]
    alert = errors.get("", "")
    count = sum(bool(field.error) for field in filled)
    return {"fields": filled, "alert": alert, "wrong": count}


def _page(
    visitor: Visitor, template: str, context: Mapping[str, Any], fault: Fault | None
) -> HttpResponse:
    response = visitor.show(template, context, status=status_of(fault))
    if fault and "Retry-After" in fault.headers:
        response.headers["Retry-After"] = fault.headers["Retry-After"]
    return response
