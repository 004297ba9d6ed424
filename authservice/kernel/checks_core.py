"""System checks of core: cause and remedy of each id. See `authservice.kernel.checks`."""

from __future__ import annotations

from collections.abc import Mapping

CHECKS: Mapping[str, tuple[str, str]] = {
    # Settings and apps
    "authservice.E001": (
        "A key in AUTHSERVICE is not a setting: it is misspelled, in the wrong section or removed."
        " Requests that read a setting of this section fail.",
        "Correct or remove the key. The reference of settings lists every key.",
    ),
    "authservice.E002": (
        "The value of a key in AUTHSERVICE has the wrong type. Requests that read a"
        " setting of this section fail.",
        "Use a value of the type that the reference of settings gives for the key.",
    ),
    "authservice.E003": (
        "A dotted path cannot be imported. It is a hook or a serializer in CORE, or an attribute of"
        " the AppConfig of a module, and requests that need the object fail.",
        "Use the dotted path of an object that can be imported.",
    ),
    "authservice.E004": (
        "authservice requires Django REST framework, which is not in INSTALLED_APPS.",
        "Add 'rest_framework' to INSTALLED_APPS.",
    ),
    "authservice.E005": (
        "API_URL or FRONTEND.URL is not an http or https URL, so links in e-mails do not work.",
        "Set it to scheme and host, such as 'https://api.example.com'.",
    ),
    "authservice.E006": (
        "A setting has the right type, but a value that cannot work, such as a negative duration.",
        "Remove the key to use its default, or use a value that the message allows.",
    ),
    "authservice.E007": (
        "'authservice' in INSTALLED_APPS is not an app.",
        "Replace it by the modules that you use, 'authservice.core' first.",
    ),
    "authservice.E010": (
        "'authservice.session' and 'authservice.stateless' cannot be installed together: both serve"
        " login, refresh and logout.",
        "Remove one of them from INSTALLED_APPS. Without either, stateless is the default.",
    ),
    "authservice.E011": (
        "authservice.urls is mounted without a prefix. It answers all unknown paths with 404, so no"
        " route of the project after it can be reached.",
        "Mount it with a prefix, as path('auth/', include('authservice.urls')).",
    ),
    "authservice.W012": (
        "The path of API_URL ends with the prefix under which authservice.urls is mounted, so that"
        " links in e-mails and the callbacks of providers contain it twice.",
        "Set API_URL to scheme, host and port, without the prefix: 'https://api.example.com'.",
    ),
    "authservice.W013": (
        "ROOT_URLCONF does not include authservice.urls: its routes are not served, and links in"
        " e-mails cannot be made.",
        "Add path('auth/', include('authservice.urls')) to ROOT_URLCONF. Include it there even if"
        " requests get another URLconf: the worker makes links by ROOT_URLCONF. If these processes"
        " neither serve the routes nor send e-mails, add 'authservice.W013' to"
        " SILENCED_SYSTEM_CHECKS.",
    ),
    "authservice.W014": (
        "authservice.urls is included only inside a namespace or below a path with parameters, so"
        " its routes cannot be found by their names and links in e-mails cannot be made.",
        "Include it in a URLconf without app_name and namespace, below a path without parameters.",
    ),
    "authservice.E050": (
        "SIGNING_KEYS cannot be used, so access tokens can be neither issued nor verified.",
        "Each key is a dict of 'alg', 'state' and a PEM key. Exactly one has the state 'active'.",
    ),
    "authservice.W080": (
        "The user model has no e-mail field; addresses are stored in the account table.",
        "No action is needed, unless EMAIL_FIELD of the user model is misspelled.",
    ),
    "authservice.W090": (
        "AUTH_PASSWORD_VALIDATORS is empty: any eight characters are accepted as a password.",
        "Add Django's four validators to AUTH_PASSWORD_VALIDATORS.",
    ),
    "authservice.I070": (
        "ATOMIC_REQUESTS does not apply to authservice: its views open their own transactions, so"
        " that the attempt of a refused request stays counted.",
        "No action is needed.",
    ),
    # Hooks and fields of the project
    "authservice.E220": (
        "A hook in CORE is not a function, or it is an async function, which is never awaited and"
        " so never refuses a login or sign-up.",
        "Use the dotted path of a plain function with one argument.",
    ),
    "authservice.W221": (
        "CORE.LOGIN_HOOK_PREPARE is set and CORE.LOGIN_HOOK is not: it is never called.",
        "Set CORE.LOGIN_HOOK, or remove CORE.LOGIN_HOOK_PREPARE.",
    ),
    "authservice.E222": (
        "CORE.SIGNUP_SERIALIZER or CORE.PROFILE_SERIALIZER is not a serializer that can be used, so"
        " each sign-up or change of a profile fails.",
        "Use a ModelSerializer of the user model, or a Serializer with update(user, values).",
    ),
    "authservice.E223": (
        "A serializer in CORE has a field that is a right, an identifier or a credential of users,"
        " or a field of authservice: clients could change it.",
        "List the fields in Meta.fields, without this one. If only the name is taken, use another.",
    ),
    "authservice.E224": (
        "CORE.USER_FIELDS shows a field that is secret, that authservice shows itself, or that does"
        " not exist.",
        "Use names of fields and properties of the user model, and paths such as 'profile.city'.",
    ),
    "authservice.E225": (
        "A serializer in CORE accepts fields that are not columns of the user model, and does not"
        " store them.",
        "Add a method update(self, user, validated_data) that stores them and returns the user.",
    ),
    "authservice.W226": (
        "Fields in REQUIRED_FIELDS of the user model stay empty at a sign-up.",
        "Set CORE.SIGNUP_SERIALIZER to a serializer that requires them.",
    ),
    # Cookies and confirmation of links
    "authservice.E060": (
        "AUTHSERVICE['COOKIES'] requires 'authservice.csrf': browsers send cookies with requests of"
        " other sites too. Until the module is installed, no token cookies are set.",
        "Add 'authservice.csrf' to INSTALLED_APPS, or set COOKIES.ENABLED to False.",
    ),
    "authservice.E061": (
        "The name of a cookie is not valid, has a cookie prefix, or is the name of another cookie."
        " Browsers drop the cookie, or one of the two overwrites the other.",
        "Use a unique name of letters and underscores, without a prefix.",
    ),
    "authservice.E062": (
        "SameSite of a cookie is 'None', which browsers accept over https only, so the cookie is"
        " not stored.",
        "Use https in API_URL, or keep 'Lax'.",
    ),
    "authservice.W112": (
        "CORE.VERIFY_CONFIRM is 'off' and COOKIES.ENABLED is true: if a mail scanner or a page of"
        " another site opens a link, it verifies the account of an attacker.",
        "Set CORE.VERIFY_CONFIRM to 'auto', the default.",
    ),
    # Production: `check --deploy` only
    "authservice.W031": (
        "AUTHSERVICE['API_URL'] is not set: e-mails cannot contain links.",
        "Set it to the public origin of the service, such as 'https://api.example.com'.",
    ),
    "authservice.W041": (
        "AUTHSERVICE['API_URL'] is an http URL: passwords and tokens are sent unencrypted.",
        "Serve the API over https, and set API_URL to the https address.",
    ),
    "authservice.W042": (
        "AUTHSERVICE['TRUSTED_PROXIES'] is 0, but TLS seems to end at a proxy: all its clients"
        " share the rate limits of one address, so one of them can stop every login.",
        "Set it to the number of proxies that append to X-Forwarded-For, or to None if clients"
        " connect to this server directly.",
    ),
    "authservice.I043": (
        "CORE.REQUIRE_RECENT_PROOF is off: a stolen access token is enough to change the phone"
        " number or to set up a second factor.",
        "Turn it on if your clients can send the password with these requests.",
    ),
    "authservice.W060": (
        "Rate limits count in a cache that is separate in each process, or that deletes counters"
        " which are still needed. An attacker gets more requests than the limits allow.",
        "Set THROTTLE.CACHE to a cache that all processes share, such as Redis.",
    ),
    "authservice.W061": (
        "A database opens a new connection for each request, which makes every request slower.",
        "Set CONN_MAX_AGE, or a connection pool in OPTIONS, in DATABASES.",
    ),
    "authservice.W062": (
        "A Redis that does not answer delays a request by 5 seconds or more.",
        "Set socket_timeout and socket_connect_timeout to 0.5 in the OPTIONS of the cache.",
    ),
    # Django admin
    "authservice.W110": (
        "The login of a Django admin site does not limit attempts at passwords, does not record"
        " them, and does not ask for the second factor.",
        "Call authservice.core.staff.admin_site.protect with the site, before its urls are used.",
    ),
    "authservice.W114": (
        "The login of a Django admin site shows no field for a code: users with a second factor"
        " cannot log in.",
        "Set login_template of the site to 'authservice/core/admin-login.html', or to a template of"
        " your own that shows form.code.",
    ),
    "authservice.W115": (
        "Staff who may change users on a page of Django admin can make themselves superusers.",
        "Register a page of your own for users, with"
        " authservice.core.staff.admin_pages.SuperAdminGuard as its first base class.",
    ),
    "authservice.W116": (
        "The page of a Django admin site on which staff change their own password does not limit"
        " attempts at the old one, and does not record or notify a change.",
        "Call authservice.core.staff.admin_site.protect with the site, before its urls are used.",
    ),
    "authservice.W117": (
        "OUTBOUND.INSECURE_HOSTS allows plain http: client secrets, codes and messages are sent"
        " unencrypted.",
        "Serve these hosts by https, and remove them from OUTBOUND.INSECURE_HOSTS.",
    ),
}
