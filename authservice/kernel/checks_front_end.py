"""System checks of front ends, mails and weakened limits: cause and remedy of each id. See
`authservice.kernel.checks`."""

from __future__ import annotations

from collections.abc import Mapping

CHECKS: Mapping[str, tuple[str, str]] = {
    "authservice.W230": (
        "FRONTEND.URL is not set: links in e-mails lead to an address of this service that has no"
        " page, so a user who clicks one sees an error (405) in JSON.",
        "Set FRONTEND.URL to the origin of a front end with these pages, or add"
        " 'authservice.pages' to INSTALLED_APPS, which has pages of its own.",
    ),
    "authservice.W231": (
        "The front end is on another site than API_URL, but a cookie has SameSite 'Lax' or"
        " 'Strict': browsers do not send it with requests of the front end, so they are refused.",
        "Serve both from one site, such as https://app.example.com and https://api.example.com, or"
        " set SameSite of the cookie to 'None', which requires https. localhost and 127.0.0.1 are"
        " two sites.",
    ),
    "authservice.W232": (
        "ACCESS_TOKEN_TTL is longer than SESSION_TTL or REFRESH_TOKEN_TTL, so the expires_in of"
        " responses is later than the end of the session.",
        "Use a short ACCESS_TOKEN_TTL, such as the default of 15 minutes: clients refresh it.",
    ),
    "authservice.W233": (
        "THROTTLE.ENABLED is False: nothing limits how many accounts, e-mails and text messages a"
        " client causes. The limits on wrong passwords and codes stay.",
        "Remove it in production. Limits that are too low are changed in THROTTLE.RATES.",
    ),
    "authservice.W234": (
        "CORE.WIPE_UNPROVEN is False: an attacker who signed up with the address of another person"
        " keeps access to the account after that person proves the address.",
        "Remove it, unless your project verifies addresses in another way before sign-up.",
    ),
    "authservice.W235": (
        "NOTIFICATION.DISPATCHER is 'celery', but the project has no Celery app: messages go to"
        " Celery's default broker, where no worker of the project takes them.",
        "Create the app in celery.py of the project, and import it in the project's __init__.py as"
        " Celery's page 'First steps with Django' shows.",
    ),
    "authservice.E237": (
        "A colour of PAGES is not written as #rrggbb, so the pages cannot use it.",
        "Write it with six hexadecimal digits, such as '#1a56c4'.",
    ),
    "authservice.E238": (
        "A URL of PAGES is neither a path nor an http or https URL, so the logo or the link of the"
        " pages does not work.",
        "Use a path such as '/static/logo.svg', or a URL such as 'https://app.example.com/login'.",
    ),
    "authservice.W239": (
        "A colour of PAGES has too little contrast with the page: many people cannot read links"
        " and buttons.",
        "Use a darker COLOR, or a lighter COLOR_DARK: a contrast of 4.5 to 1 is needed (WCAG 2.2).",
    ),
    "authservice.W236": (
        "E-mails are sent to localhost:25, Django's default mail server, because no setting names"
        " another. If there is none, every message is lost.",
        "Set EMAIL_HOST, or another EMAIL_BACKEND. If localhost is right, set EMAIL_HOST to it.",
    ),
    "authservice.E240": (
        "A path in FRONTEND is not a path below FRONTEND.URL, so a link or a redirect leads to a"
        " wrong page, perhaps of another site. A link has a token.",
        "Use a path that starts with one slash, such as '/reset-password', without white space or"
        " backslashes. It may have a query, and after '#/' a route of the front end.",
    ),
    "authservice.W241": (
        "The e-mail backend is one of Django's for development: e-mails are not sent. They are"
        " printed, stored or dropped, and a printed or stored link gives access to its account.",
        "Set EMAIL_BACKEND, or MAILERS from Django 6.1 on, to a backend that sends e-mails, such as"
        " 'django.core.mail.backends.smtp.EmailBackend'.",
    ),
}
