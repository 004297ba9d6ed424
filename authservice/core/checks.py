"""System checks of the host project's settings, each message with a hint.

They are about the settings, the installed apps, the signing keys, the mount of the URLs, the user
model and the cookies. `connect` also registers those of `user_checks`, and those of
`production_checks`, which only `manage.py check --deploy` runs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import fields
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register
from django.core.exceptions import ImproperlyConfigured
from django.urls import NoReverseMatch, URLResolver, get_resolver, get_script_prefix
from django.utils.module_loading import import_string

from authservice.core import production_checks, user_checks
from authservice.core.conf import core
from authservice.core.login import step_up
from authservice.core.tokens import signing
from authservice.core.users.user_model import host
from authservice.kernel import modules, rules
from authservice.kernel import settings as kernel_settings
from authservice.kernel.checks import declare, message
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.link_pages import LinkPages
from authservice.kernel.message_queue import Messenger
from authservice.kernel.origins import parts_of
from authservice.kernel.sections import Frontend, cookies, frontend, mount, root, secure

declare(
    {
        "authservice.E001": (
            "A key in AUTHSERVICE is not a setting: it is misspelled, in the wrong section or"
            " removed. Requests that read a setting of this section fail.",
            "Correct or remove the key. The reference of settings lists every key.",
        ),
        "authservice.E002": (
            "The value of a key in AUTHSERVICE has the wrong type. Requests that read a setting of"
            " this section fail.",
            "Use a value of the type that the reference of settings gives for the key.",
        ),
        "authservice.E003": (
            "A dotted path cannot be imported. It is an attribute of the AppConfig of a module,"
            " and requests that need the object fail.",
            "Use the dotted path of an object that can be imported.",
        ),
        "authservice.E004": (
            "authservice requires Django REST framework, which is not in INSTALLED_APPS.",
            "Add 'rest_framework' to INSTALLED_APPS.",
        ),
        "authservice.E006": (
            "The value of a setting, or an entry of a list or dict, breaks a rule of the setting,"
            " such as a duration that must be positive, a URL, or the dotted path of a function."
            " The reference of settings has the rules.",
            "Remove the key to use its default, or use a value that the message allows.",
        ),
        "authservice.E007": (
            "'authservice' in INSTALLED_APPS is not an app.",
            "Replace it by the modules that you use, 'authservice.core' first.",
        ),
        "authservice.E008": (
            "An attribute of the AppConfig of a module names an object that cannot fill the slot."
            " It is not an instance of a subclass of the base class of the slot, or it has a"
            " public name that the base class does not have, such as a misspelled method, which"
            " nothing would call.",
            "Compare the class with the base class, which the reference of slots describes. Names"
            " that only the class itself uses begin with an underscore.",
        ),
        "authservice.E009": (
            "The method of a second factor is the name of another way to prove who the user is, or"
            " has other characters than a-z, 0-9, '_' and '-'. Challenges name methods, so the"
            " answer to one would be checked by the wrong factor, or by none.",
            "Give the class an own name in its attribute `method`, whose default is 'code'.",
        ),
        "authservice.E010": (
            "'authservice.session' and 'authservice.stateless' cannot be installed together: both"
            " serve login, refresh and logout.",
            "Remove one of them from INSTALLED_APPS. Without either, stateless is the default.",
        ),
        "authservice.E011": (
            "authservice.urls is mounted without a prefix. It answers all unknown paths with 404,"
            " so no route of the project after it can be reached.",
            "Mount it with a prefix, as path('auth/', include('authservice.urls')).",
        ),
        "authservice.W012": (
            "The path of API_URL ends with the prefix under which authservice.urls is mounted, so"
            " that links in e-mails and the callbacks of providers contain it twice.",
            "Set API_URL to scheme, host and port, without the prefix: 'https://api.example.com'.",
        ),
        "authservice.I070": (
            "ATOMIC_REQUESTS does not apply to authservice: its views open their own transactions,"
            " so that the attempt of a refused request stays counted.",
            "No action is needed.",
        ),
        "authservice.W080": (
            "The user model has no e-mail field; addresses are stored in the account table.",
            "No action is needed, unless EMAIL_FIELD of the user model is misspelled.",
        ),
        "authservice.W090": (
            "AUTH_PASSWORD_VALIDATORS is empty: any eight characters are accepted as a password.",
            "Add Django's four validators to AUTH_PASSWORD_VALIDATORS.",
        ),
        "authservice.W221": (
            "CORE.LOGIN_HOOK_PREPARE is set and CORE.LOGIN_HOOK is not: it is never called.",
            "Set CORE.LOGIN_HOOK, or remove CORE.LOGIN_HOOK_PREPARE.",
        ),
        "authservice.W230": (
            "FRONTEND.URL is not set: links in e-mails lead to an address of this service that has"
            " no page, so a user who clicks one sees an error (405) in JSON.",
            "Set FRONTEND.URL to the origin of a front end with these pages, or add"
            " 'authservice.pages' to INSTALLED_APPS, which has pages of its own.",
        ),
        "authservice.W232": (
            "ACCESS_TOKEN_TTL is longer than SESSION_TTL or REFRESH_TOKEN_TTL, so the expires_in"
            " of responses is later than the end of the session.",
            "Use a short ACCESS_TOKEN_TTL, such as the default of 15 minutes: clients refresh it.",
        ),
        "authservice.W281": (
            "Several apps fill a slot that takes one filler, such as 'messenger': only the last of"
            " them in INSTALLED_APPS is called, and the others do nothing.",
            "Remove all but one of the apps from INSTALLED_APPS. If the order is as you want it,"
            " add 'authservice.W281' to SILENCED_SYSTEM_CHECKS.",
        ),
    }
)
declare(
    {
        "authservice.E060": (
            "AUTHSERVICE['COOKIES'] requires 'authservice.csrf': browsers send cookies with"
            " requests of other sites too. Until the module is installed, no token cookies are"
            " set.",
            "Add 'authservice.csrf' to INSTALLED_APPS, or set COOKIES.ENABLED to False.",
        ),
        "authservice.E061": (
            "The name of a cookie is the name of another cookie, so one of the two overwrites the"
            " other.",
            "Use a unique name.",
        ),
        "authservice.E062": (
            "SameSite of a cookie is 'None', which browsers accept over https only, so the cookie"
            " is not stored.",
            "Use https in API_URL, or keep 'Lax'.",
        ),
        "authservice.W112": (
            "CORE.VERIFY_CONFIRM is 'off' and COOKIES.ENABLED is true: if a mail scanner or a page"
            " of another site opens a link, it verifies the account of an attacker.",
            "Set CORE.VERIFY_CONFIRM to 'auto', the default.",
        ),
    },
    area="cookies",
)
declare(
    {
        "authservice.E050": (
            "SIGNING_KEYS cannot be used, so access tokens can be neither issued nor verified.",
            "Each key is a dict of 'alg', 'state' and a PEM key. Exactly one has the state"
            " 'active'.",
        ),
    },
    area="keys",
)
declare(
    {
        "authservice.W013": (
            "ROOT_URLCONF does not include authservice.urls: its routes are not served, and links"
            " in e-mails cannot be made.",
            "If the project has users from before, run authservice_sync_accounts --verified first,"
            " and the imports from other packages. Then add path('auth/',"
            " include('authservice.urls')) to ROOT_URLCONF. Include it there even if requests get"
            " another URLconf: the worker makes links by ROOT_URLCONF. If these processes neither"
            " serve the routes nor send e-mails, add 'authservice.W013' to SILENCED_SYSTEM_CHECKS.",
        ),
        "authservice.W014": (
            "authservice.urls is included only inside a namespace or below a path with parameters,"
            " so its routes cannot be found by their names and links in e-mails cannot be made.",
            "Include it in a URLconf without app_name and namespace, below a path without"
            " parameters.",
        ),
    },
    grave=True,
)

_OUR_COOKIES = ("authservice_device", "authservice_signup")
# A challenge joins the methods in its signed text, and a form does so with spaces.
_METHOD = re.compile(r"[a-z0-9_-]+")
_INVITING = {
    "authservice.invitation": "to accept an invitation",
    "authservice.organization": "to accept an invitation to an organization",
}


def connect() -> None:
    own = (check_settings, check_apps, check_keys, check_mount, check_host, check_cookies)
    for check in own:
        register(check, "authservice")
    production_checks.connect()
    user_checks.connect()


def check_settings(**_: Any) -> Iterator[CheckMessage]:
    ids = {"unknown": "authservice.E001", "type": "authservice.E002"}
    complaints = list(kernel_settings.complaints())
    for complaint in complaints:
        yield message(ids[complaint.kind], complaint.text, hint=complaint.hint)
    if complaints:
        return  # the settings cannot be read
    for violation in rules.violations():
        yield message("authservice.E006", violation.text, hint=violation.hint)
    yield from _slots()
    yield from _factor_methods()
    yield from _overfilled_slots()
    # E006 reports a lifetime that is not positive.
    if root.access_token_ttl > min(root.session_ttl, root.refresh_token_ttl) > timedelta(0):
        yield message("authservice.W232")
    if cookies.enabled and core.verify_confirm == "off":
        yield message("authservice.W112")
    if core.login_hook_prepare and not core.login_hook:
        yield message("authservice.W221")
    yield from _links()


def _slots() -> Iterator[CheckMessage]:
    """Fillers of slots that cannot be imported, or that the slot cannot use."""
    for module, slot, path in modules.slots_filled():
        try:
            filler = import_string(path)
        except ImportError as error:
            text = f"{module.name}.{slot} is {path!r}, which cannot be imported: {error}"
            yield message("authservice.E003", text)
        else:
            if reason := modules.misfit(slot, filler):
                text = f"{module.name}.{slot} is {path!r}, which {reason}."
                yield message("authservice.E008", text)


def _factor_methods() -> Iterator[CheckMessage]:
    """Second factors with the method of another one, or with one that no challenge can name."""
    owners = {step_up.PASSWORD: "the password of the user"}
    for module, slot, path in modules.slots_filled():
        try:
            method = str(import_string(path).method) if slot == SecondFactor.slot else None
        except (ImportError, AttributeError):
            continue  # E003 or E008 reports it
        if method is None:
            continue
        factor = f"{module.name} ({path!r})"
        if method in owners:
            text = f"The second factor of {factor} has the method {method!r} of {owners[method]}."
            yield message("authservice.E009", text)
        elif not _METHOD.fullmatch(method):
            text = (
                f"The second factor of {factor} has the method {method!r}. It must consist of a-z,"
                " 0-9, '_' and '-'."
            )
            yield message("authservice.E009", text)
        owners.setdefault(method, factor)


def _overfilled_slots() -> Iterator[CheckMessage]:
    """Slots that take one filler and have several: only the last one is called."""
    for slot, fillers in modules.overfilled_slots():
        text = (
            f"The slot {slot!r} takes one filler, but has {len(fillers)}: {', '.join(fillers)}."
            f" Only the last one is called, {fillers[-1]}."
        )
        yield message("authservice.W281", text)


def _links() -> Iterator[CheckMessage]:
    """Links to pages that do not exist. Without a messenger no mails are sent."""
    if frontend.url or not modules.plugs(Messenger):
        return
    if not modules.plugs(LinkPages):
        purposes = ["to choose a new password"]
        purposes += [purpose for app, purpose in _INVITING.items() if apps.is_installed(app)]
        *other_purposes, last = purposes
        joined = f"{', '.join(other_purposes)} and {last}" if other_purposes else last
        text = (
            f"FRONTEND.URL is not set: the links in e-mails {joined} lead to an address of this"
            " service that has no page. A user who clicks one sees an error (405) in JSON."
        )
        yield message("authservice.W230", text)
        return
    # Without a front end there are only the pages of 'authservice.pages', at the default paths.
    for setting in fields(Frontend):
        path = getattr(frontend, setting.name)
        if setting.name.endswith("_path") and setting.default and path != setting.default:
            text = (
                f"FRONTEND.{setting.name.upper()} is {path!r}, but FRONTEND.URL is not set: the"
                f" link leads to an address of this service that has no page. The page of"
                f" 'authservice.pages' is at {setting.default!r}."
            )
            yield message("authservice.W230", text)


def check_apps(**_: Any) -> Iterator[CheckMessage]:
    if not apps.is_installed("rest_framework"):
        yield message("authservice.E004")
    if any(entry.split(".apps.")[0] == "authservice" for entry in settings.INSTALLED_APPS):
        yield message("authservice.E007")
    if all(apps.is_installed(name) for name in modules.LOGIN_MODULES):
        yield message("authservice.E010")


def check_keys(**_: Any) -> list[CheckMessage]:
    if list(kernel_settings.complaints()) or not root.signing_keys:
        return []
    try:
        signing.configured()
    except ImproperlyConfigured as error:
        return [message("authservice.E050", str(error))]
    return []


def check_mount(**_: Any) -> Iterator[CheckMessage]:
    if not getattr(settings, "ROOT_URLCONF", None):
        return
    try:
        prefixes = list(_prefixes(get_resolver()))
    except (ImportError, ImproperlyConfigured):
        return  # Django's own check of URLs reports it
    if not prefixes:
        yield message("authservice.W013")
        return
    if "" in prefixes:
        yield message("authservice.E011")
    try:
        path = mount().removeprefix(get_script_prefix())
    except NoReverseMatch:
        yield message("authservice.W014")
        return
    prefix = path.strip("/")
    if not prefix or list(kernel_settings.complaints()):
        return
    # The path of API_URL may be a script prefix, but must not end with the prefix of our URLs too.
    if f"/{parts_of(root.api_url).path.strip('/')}".endswith(f"/{prefix}"):
        yield message("authservice.W012")


def _prefixes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    """The path of each include of our URLs, at any depth. Two includes are no mistake: all routes
    work below both, and Django's own check warns of two with one namespace."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            path = before + str(entry.pattern).removeprefix("^")
            if entry.app_name == "authservice":
                yield path
            else:
                yield from _prefixes(entry, path)


def check_host(**_: Any) -> Iterator[CheckMessage]:
    if not host().email:
        yield message("authservice.W080")
    if not settings.AUTH_PASSWORD_VALIDATORS:
        yield message("authservice.W090")
    if any(database.get("ATOMIC_REQUESTS") for database in settings.DATABASES.values()):
        yield message("authservice.I070")


def check_cookies(**_: Any) -> Iterator[CheckMessage]:
    """Two cookies of one name, and a SameSite that needs https."""
    if list(kernel_settings.complaints()):
        return
    if cookies.enabled and not apps.is_installed("authservice.csrf"):
        yield message("authservice.E060")
    names = (("ACCESS_NAME", cookies.access_name), ("REFRESH_NAME", cookies.refresh_name))
    for key, name in names:
        other_names = [other for other_key, other in names if other_key != key]
        yield from name_faults(f"COOKIES.{key}", name, other_names=other_names)
    yield from samesite_faults("COOKIES.SAMESITE", cookies.samesite)


def name_faults(key: str, name: str, *, other_names: Collection[str]) -> Iterator[CheckMessage]:
    """Check that the name of a cookie differs from those of Django and of the service, and from
    `other_names`."""
    of_django = (
        *(settings.CSRF_COOKIE_NAME, settings.SESSION_COOKIE_NAME),
        settings.LANGUAGE_COOKIE_NAME,
    )
    # Over https the cookie gets the prefix.
    if {name, f"__Host-{name}"} & {*of_django, *_OUR_COOKIES, *other_names}:
        text = f"{key} is {name!r}, which is the name of another cookie."
        yield message("authservice.E061", text)


def samesite_faults(key: str, samesite: str) -> Iterator[CheckMessage]:
    if samesite == "None" and not secure():
        text = f"{key} is 'None', which browsers accept over https only."
        yield message("authservice.E062", text)
