"""System checks of the modules: cause and remedy of each id. See `authservice.kernel.checks`."""

from __future__ import annotations

from collections.abc import Mapping

CHECKS: Mapping[str, tuple[str, str]] = {
    # Magic links
    "authservice.E030": (
        "'authservice.magiclink' is installed without an app that sends e-mails, so no magic link"
        " is ever sent.",
        "Add 'authservice.notification' to INSTALLED_APPS.",
    ),
    "authservice.E032": (
        "MAGICLINK.TTL must be positive: every link has expired before it is sent.",
        "Remove it to use 15 minutes, or set a positive duration.",
    ),
    "authservice.E033": (
        "MAGICLINK.CALLBACK_URL is not an http or https URL, or has a fragment. The fragment is"
        " where the tokens are sent, so nobody can log in with a link.",
        "Set it to scheme, host and path, such as 'https://app.example.com/signed-in'.",
    ),
    "authservice.W034": (
        "MAGICLINK.CALLBACK_URL is an http URL: an attacker on the network can add a script to the"
        " page that receives the tokens.",
        "Serve the front end over https, and use its https address.",
    ),
    "authservice.W035": (
        "MAGICLINK.AUTO_REGISTER creates accounts without a phone number, but"
        " CORE.REQUIRE_PHONE_VERIFICATION refuses their login.",
        "Set one of the two to False.",
    ),
    "authservice.W036": (
        "MAGICLINK.CONFIRM is 'off' and COOKIES.ENABLED is true: a page of another site can log its"
        " visitors in to an account of an attacker (login CSRF).",
        "Set MAGICLINK.CONFIRM to 'auto', the default.",
    ),
    "authservice.W260": (
        "Users from before the service was installed have a password and an address that is not"
        " proven: their first magic link removes the password.",
        "Name the addresses that the project has verified: manage.py authservice_sync_accounts"
        " --verified (see 'Verified addresses' on the page 'Your users' of the documentation). If"
        " an address is unproven because several users share it, change the address of all but one,"
        " then run this again. Or set CORE.WIPE_UNPROVEN to False.",
    ),
    # E-mail and SMS
    "authservice.E101": (
        "NOTIFICATION.DISPATCHER cannot be imported, so no message is sent.",
        "Use 'thread', 'tasks', 'celery', 'inline' or the dotted path of a callable.",
    ),
    "authservice.W101": (
        "NOTIFICATION.DISPATCHER is 'inline': each request waits for the mail server, and the time"
        " it takes reveals which addresses have an account.",
        "Use 'thread', 'tasks' or 'celery'. 'inline' is for tests only.",
    ),
    "authservice.E102": (
        "NOTIFICATION.DISPATCHER is 'tasks', which requires Django 6.0 or later. No message is"
        " sent.",
        "Use 'thread' or 'celery', or upgrade Django.",
    ),
    "authservice.W102": (
        "NOTIFICATION.DISPATCHER is 'tasks', but the default backend in TASKS does not queue:"
        " requests wait for the mail server, or messages are dropped.",
        "Set a backend with a worker in TASKS, or use 'thread'.",
    ),
    "authservice.E103": (
        "NOTIFICATION.DISPATCHER is 'celery', but Celery is not installed. No message is sent.",
        "Run: pip install 'authservice[celery]', and configure a Celery app in the project.",
    ),
    "authservice.W103": (
        "Notices share a queue with links and codes, so many notices delay links and codes.",
        "Set NOTIFICATION.NOTICE_QUEUE, and start a worker for that queue.",
    ),
    "authservice.E104": (
        "TASKS does not list the queue in NOTIFICATION.NOTICE_QUEUE, so notices are not sent.",
        "Add the queue to TASKS['default']['QUEUES'].",
    ),
    "authservice.E110": (
        "NOTIFICATION.SMS_SENDER cannot be imported, so no SMS is sent.",
        "Use 'console', 'webhook', 'twilio' or the dotted path of a callable.",
    ),
    "authservice.E111": (
        "NOTIFICATION.SMS_SENDER is 'webhook', but SMS_WEBHOOK_URL is not an https URL. No SMS is"
        " sent.",
        "Set NOTIFICATION.SMS_WEBHOOK_URL, such as 'https://sms.example.com/send'. For plain http,"
        " name the host in OUTBOUND.INSECURE_HOSTS.",
    ),
    "authservice.E112": (
        "NOTIFICATION.SMS_SENDER is 'twilio', but an account setting is missing. No SMS is sent.",
        "Set TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM to the values in the console of"
        " Twilio.",
    ),
    "authservice.E113": (
        "NOTIFICATION.SMS_SENDER is 'twilio', but its package is not installed. No SMS is sent.",
        "Run: pip install 'authservice[twilio]'",
    ),
    "authservice.W113": (
        "NOTIFICATION.SMS_SENDER is 'console': text messages are not sent but written to the log,"
        " with their codes.",
        "Set NOTIFICATION.SMS_SENDER to 'webhook', 'twilio' or a sender of your own.",
    ),
    "authservice.E120": (
        "NOTIFICATION.LANGUAGE cannot be imported, so messages ignore the language of the user.",
        "Use the dotted path of a callable: (user) -> language code.",
    ),
    "authservice.W120": (
        "AUTHSERVICE['API_URL'] is not set: links in e-mails do not work.",
        "Set it to the public origin of the service, such as 'https://api.example.com'.",
    ),
    "authservice.E121": (
        "NOTIFICATION.BRAND has a key that no template uses, or a value that is not a string.",
        "Use strings under the keys name, logo_url, color and support_email.",
    ),
    "authservice.E122": (
        "A number or duration in NOTIFICATION is too small to work.",
        "RETRIES and BACKOFF may be 0. QUEUE_SIZE, SMS_PER_HOUR and the timeouts must be positive.",
    ),
    "authservice.E123": (
        "NOTIFICATION.SMS_COUNTRIES requires the package phonenumbers, which is not installed. No"
        " SMS is sent.",
        "Run: pip install 'authservice[phone]'",
    ),
    "authservice.E124": (
        "NOTIFICATION.SMS_COUNTRIES has an unknown country code. No SMS is sent to the country that"
        " is meant.",
        "Use ISO 3166 codes of two capital letters, such as ['DE', 'AT'].",
    ),
    # CSRF
    "authservice.E130": (
        "CSRF.HEADER_NAME is not a valid header name, so no request can send the token and every"
        " change is refused.",
        "Use letters, digits and hyphens. Servers drop headers with underscores.",
    ),
    "authservice.E131": (
        "CsrfViewMiddleware and CsrfMiddleware read different tokens from the same header, so every"
        " request is refused by one of them.",
        "Remove one of the two from MIDDLEWARE, or change CSRF.HEADER_NAME.",
    ),
    "authservice.E132": (
        "CSRF.TTL must be positive: every token has expired when it is issued, so every change is"
        " refused.",
        "Remove it to use one hour, or set a positive duration.",
    ),
    "authservice.E133": (
        "CSRF.TRUSTED_ORIGINS contains an entry that is not an origin, so requests from the origin"
        " that is meant are refused.",
        "Use scheme and host as browsers send them, such as 'https://app.example.com', with the"
        " port only if it is not the default. Wildcards are not supported.",
    ),
    "authservice.W134": (
        "CSRF.TRUSTED_ORIGINS contains an http origin: an attacker on the network can forge"
        " requests from it.",
        "Serve the origin over https, and list it with https://.",
    ),
    "authservice.E135": (
        "CSRF.EXEMPT_PATHS contains an entry that is not a path below '/'. The root would turn the"
        " check off for the whole project.",
        "Use paths that start with a slash, such as '/webhooks/'.",
    ),
    # Second factors
    "authservice.E140": (
        "TWOFACTOR.ISSUER contains a colon, where authenticator apps cut the name of the service.",
        "Remove the colon.",
    ),
    "authservice.E141": (
        "TWOFACTOR.REMEMBER_TTL is negative, or longer than a device token is valid.",
        "Use a duration such as 30 days. 0 requires a code at each login.",
    ),
    # Audit log
    "authservice.E150": (
        "AUDIT.EXCLUDE contains a name that is not an action, so the action that is meant is still"
        " recorded.",
        "List whole actions, such as 'auth.token.refreshed'.",
    ),
    "authservice.E151": (
        "AUDIT.RETENTION contains a prefix with which no action starts, so the entries that are"
        " meant are kept for the default time.",
        "Use prefixes such as 'auth.login.', or whole actions.",
    ),
    "authservice.E152": (
        "A value in AUDIT.RETENTION is not a duration. The cleanup of the audit log fails.",
        "Use a timedelta, or None to keep the entries permanently.",
    ),
    "authservice.E153": (
        "AUDIT.CLEANUP_LIMIT must be at least 1: POST /admin/audit/cleanup deletes nothing.",
        "Remove it to use 100,000, or set a larger number.",
    ),
    "authservice.E154": (
        "The audit log is not in the database of the accounts. An entry must be written in the"
        " transaction of its action, which is not possible across databases.",
        "Route 'authservice_audit' to the database of 'authservice_core'.",
    ),
    # Sessions
    "authservice.E160": (
        "SESSION.IDLE_TTL or SESSION.MAX_PER_USER is negative.",
        "Use 0 or more. 0 means REFRESH_TOKEN_TTL for IDLE_TTL, and no limit for MAX_PER_USER.",
    ),
    "authservice.E161": (
        "SESSION.CACHE is not in CACHES, so every request that uses a session fails.",
        "Use an alias of CACHES.",
    ),
    "authservice.E162": (
        "SESSION.STORE cannot be imported, or lacks methods of a store. Every request that uses a"
        " session fails.",
        "Use 'database', 'cache' or the dotted path of a class with the methods of"
        " authservice.kernel.interfaces.SessionStore.",
    ),
    "authservice.W163": (
        "SESSION.CACHE is a cache that processes do not share: a session that one process revokes"
        " is not in the cache of the others.",
        "Use a cache that all processes share, such as Redis, or set SESSION.STORE to 'database'.",
    ),
    # API description
    "authservice.E170": (
        "authservice.openapi requires PyYAML and drf-spectacular-sidecar. The description and its"
        " pages cannot be served.",
        "Run: pip install 'authservice[openapi]'",
    ),
    # Clients of simplejwt
    "authservice.E210": (
        "Only one of SIMPLEJWT.TRADE_ISSUED_BEFORE and SIMPLEJWT.TRADE_UNTIL is set, so no refresh"
        " token of simplejwt is traded.",
        "Set both, or none.",
    ),
    "authservice.E211": (
        "SIMPLEJWT trades refresh tokens of simplejwt, and its block list is not installed. Without"
        " it a forged token cannot be distinguished from an issued one, so none is traded.",
        "Add 'rest_framework_simplejwt.token_blacklist' to INSTALLED_APPS and migrate, one lifetime"
        " of refresh tokens before the move: it lists only tokens that are issued from then on.",
    ),
    "authservice.E212": (
        "The block list of simplejwt is not in the database of the accounts. A traded token must be"
        " blocked in the transaction of its session, which is not possible across databases.",
        "Route 'token_blacklist' to the database of 'authservice_core'.",
    ),
    "authservice.W213": (
        "SIMPLEJWT.TRADE_UNTIL has passed: no refresh token of simplejwt is traded any more.",
        "Remove the settings of SIMPLEJWT, and simplejwt's block list if nothing else uses it.",
    ),
    "authservice.W214": (
        "SIMPLEJWT.TRADE_COOKIE is never read, because tokens in cookies are not accepted.",
        "Set COOKIES.ENABLED and install authservice.csrf, or remove the setting.",
    ),
    "authservice.W215": (
        "A setting of a package that the project came from is set, but its app is not installed, so"
        " nothing reads it.",
        "Remove it. The pages on coming from other packages name the settings that replace it.",
    ),
}
