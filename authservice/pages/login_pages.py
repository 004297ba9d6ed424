"""The pages before a login: sign in, sign up, second factor, forgotten password, mailed link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.urls import reverse

from authservice.core.conf import core
from authservice.core.errors import InvalidCredentials
from authservice.kernel import settings
from authservice.kernel.errors import Fault
from authservice.kernel.link_pages import ResultPage
from authservice.kernel.phrases import page_text as _
from authservice.kernel.secret import Secret
from authservice.pages import calls, form_fields
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
        return visitor.go(visitor.destination)
    form = (form_fields.identifier(), form_fields.password())
    if not visitor.submitted:
        return _login_page(visitor, form)
    name = visitor.sent.get("identifier")
    body = Values(form_fields.as_identifier(name), password=visitor.sent.get("password"))
    return _proceed(
        visitor, visitor.call("login", body=body), lambda fault: _login_page(visitor, form, fault)
    )


def _login_page(
    visitor: Visitor, form: Sequence[Field], fault: Fault | None = None
) -> HttpResponse:
    errors = form_fields.errors_of(fault, ())
    if fault and fault.code == InvalidCredentials.code:
        errors = {"": _("This sign-in does not match an account. Check both fields.")}
    if fault and fault.code == "VALIDATION_ERROR":
        errors = {"identifier": fault.text} if visitor.sent.get("password") else {"": fault.text}
    context = {
        **_fields(visitor, form, errors),
        "providers": _providers(visitor),
        "sign_up": visitor.url("page-signup") if core.allow_signup else "",
        "forgot": visitor.url("page-forgot-password"),
        "mailed_link": visitor.url("page-magic-link") if calls.exists(_MAGIC_LINK) else "",
        "unverified": _unverified(visitor, fault),
    }
    response = _page(visitor, "login.html", context, fault)
    visitor.keep_next(response)
    return response


def _unverified(visitor: Visitor, fault: Fault | None) -> str:
    """The page that sends another verification link, after a login that lacks it."""
    if fault is None or fault.code != "EMAIL_NOT_VERIFIED":
        return ""
    return visitor.url("page-verify")


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
        return _mailbox(visitor, body.get("email", ""), "page-verify")
    return _proceed(visitor, answer, lambda fault: _signup_page(visitor, form, fault))


def _signup_page(
    visitor: Visitor, form: Sequence[Field], fault: Fault | None = None
) -> HttpResponse:
    context = {
        **_fields(visitor, form, form_fields.errors_of(fault, form)),
        "providers": _providers(visitor),
        "log_in": visitor.url("page-login"),
        "closed": not core.allow_signup,
    }
    response = _page(visitor, "signup.html", context, fault)
    visitor.keep_next(response)
    return response


@page(route="forgot-password")
def forgot_password(visitor: Visitor) -> HttpResponse:
    return _ask_for_mail(
        visitor,
        "forgot-password",
        heading=_("Forgot your password?"),
        text=_("We mail you a link to choose a new one."),
        again="page-forgot-password",
    )


@page(route=_MAGIC_LINK)
def magic_link(visitor: Visitor) -> HttpResponse:
    return _ask_for_mail(
        visitor,
        _MAGIC_LINK,
        heading=_("Sign in by e-mail"),
        text=_("We mail you a link and a code. Either signs you in."),
        again="page-magic-link",
        code="page-magic-code",
    )


@page(route="send-verification-email")
def verify(visitor: Visitor) -> HttpResponse:
    return _ask_for_mail(
        visitor,
        "send-verification-email",
        heading=_("Confirm your address"),
        text=_("We mail you a link that confirms your e-mail address."),
        again="page-verify",
    )


def _ask_for_mail(
    visitor: Visitor, route: str, *, heading: str, text: str, again: str, code: str = ""
) -> HttpResponse:
    """A page that asks for an address, to which a route sends a mail; it does not say whether the
    address has an account."""
    form = (replace(form_fields.EMAIL, autocomplete="username"),)
    fault = None
    if visitor.submitted:
        body = _body(visitor, form)
        answer = visitor.call(route, body=body)
        if answer.fault is None:
            return _mailbox(visitor, body["email"], again, code=code)
        fault = answer.fault
    context = {
        **_fields(visitor, form, form_fields.errors_of(fault, form)),
        "heading": heading,
        "text": text,
        "button": _("Send the mail"),
        "log_in": visitor.url("page-login"),
    }
    return _page(visitor, "ask_for_mail.html", context, fault)


def _mailbox(visitor: Visitor, email: str, again: str, *, code: str = "") -> HttpResponse:
    context = {
        "email": email,
        "again": visitor.url(again),
        "log_in": visitor.url("page-login"),
        "code_url": visitor.url(code) if code else "",
        "fields": [form_fields.CODE.shown(None, {})],
    }
    response = visitor.show("mailbox.html", context)
    visitor.keep_next(response)
    return response


@page(route="magic-link-verify-code")
def magic_code(visitor: Visitor) -> HttpResponse:
    form = (form_fields.EMAIL, form_fields.CODE)
    if not visitor.submitted:
        return visitor.go(visitor.url("page-magic-link"))

    def again(fault: Fault) -> HttpResponse:
        errors = form_fields.errors_of(fault, (form_fields.CODE,))
        context = {
            "email": visitor.sent.get("email"),
            "again": visitor.url("page-magic-link"),
            "log_in": visitor.url("page-login"),
            "code_url": visitor.url("page-magic-code"),
            "fields": [form_fields.CODE.shown(visitor.sent, errors)],
            "alert": errors.get("", ""),
        }
        return visitor.show("mailbox.html", context, status=status_of(fault))

    answer = visitor.call("magic-link-verify-code", body=_body(visitor, form))
    return _proceed(visitor, answer, again)


@page(route=_FACTOR)
def second_factor(visitor: Visitor) -> HttpResponse:
    """The second step of a login. Its `temp_token` is in the form alone, so a form whose CSRF token
    is missing asks again, with the same."""
    temp_token = Secret(visitor.sent.get("temp_token"))
    if visitor.request.method != "POST" or not temp_token:
        return visitor.go(visitor.url("page-login"))
    if visitor.stale:
        return _factor_page(visitor, temp_token)
    body = Values(
        temp_token=temp_token.reveal(),
        code=visitor.sent.get("code"),
        remember_device="remember_device" in visitor.sent,
    )
    return _proceed(
        visitor,
        visitor.call(_FACTOR, body=body),
        lambda fault: _factor_page(visitor, temp_token, fault),
    )


def _factor_page(visitor: Visitor, temp_token: Secret, fault: Fault | None = None) -> HttpResponse:
    errors = form_fields.errors_of(fault, (form_fields.FACTOR,))
    if fault and fault.code == "INVALID_TOKEN":
        return visitor.go(visitor.url("page-login"), _("That took too long. Sign in again."))
    context = {
        **_fields(visitor, (form_fields.FACTOR,), errors),
        "temp_token": temp_token,
        "action": visitor.url("page-second-factor"),
        "log_in": visitor.url("page-login"),
        "may_remember": bool(settings.find("TWOFACTOR", "remember_ttl", None)),
        "remember": "remember" in visitor.sent,
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
        return _factor_page(visitor, temp_token)
    answer = visitor.call(_SET_UP, body=Values(temp_token=temp_token.reveal()))
    if answer.fault is not None:
        return visitor.failed(answer.fault)
    context = {
        **_fields(visitor, (replace(form_fields.CODE, hint=""),), {}),
        "setup": answer.data,
        "temp_token": temp_token,
        "action": visitor.url("page-second-factor"),
        "remember": "remember" in visitor.sent,
    }
    return visitor.show("set_up_factor.html", context)


def enter_by_link(visitor: Visitor, page: ResultPage) -> HttpResponse:
    """The same for the result of a mailed link or a provider."""
    if page.access_token:
        return visitor.sign_in(page.access_token)
    data = Values(temp_token=page.temp_token.reveal())
    challenges = [{"type": page.challenge, "data": data}]
    return enter(visitor, {"status": "challenge", "challenges": challenges})


def _proceed(
    visitor: Visitor, answer: Answer, again: Callable[[Fault], HttpResponse]
) -> HttpResponse:
    if answer.fault is not None:
        return again(answer.fault)
    return enter(visitor, answer.data, remember="remember" in visitor.sent)


def _providers(visitor: Visitor) -> list[dict[str, str]]:
    if not calls.exists("oauth-providers"):
        return []
    found = visitor.data("oauth-providers")["providers"]
    return [
        {
            "name": one["name"],
            "label": provider_label(one["name"]),
            "url": reverse("authservice:oauth", kwargs={"provider": one["name"]}),
        }
        for one in found
        if one["enabled"]
    ]


def provider_label(name: str) -> str:
    return str(conf.provider_names.get(name) or _NAMES.get(name) or name.title())


_NAMES = {"github": "GitHub", "gitlab": "GitLab", "linkedin": "LinkedIn", "oidc": "OpenID"}


def _body(visitor: Visitor, form: Sequence[Field]) -> dict[str, Any]:
    return Values((one.name, one.typed(visitor.sent)) for one in form)


def _fields(visitor: Visitor, form: Sequence[Field], errors: Mapping[str, str]) -> dict[str, Any]:
    shown = [one.shown(visitor.typed, errors) for one in form]
    alert = errors.get("", "")
    count = sum(bool(one.error) for one in shown)
    return {"fields": shown, "alert": alert, "wrong": count}


def _page(
    visitor: Visitor, template: str, context: Mapping[str, Any], fault: Fault | None
) -> HttpResponse:
    response = visitor.show(template, context, status=status_of(fault))
    if fault and "Retry-After" in fault.headers:
        response.headers["Retry-After"] = fault.headers["Retry-After"]
    return response
