"""The language of responses: which one, and that a response has only one."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import AsyncClient, Client
from django.utils import translation
from django.utils.translation import trans_null, trans_real

from authservice.kernel import languages
from tests.support.client import PASSWORD
from tests.support.people import make_user

GERMAN = "Die Anmeldedaten sind ungültig."
ENGLISH = "The credentials are not valid."
LOCALE = "django.middleware.locale.LocaleMiddleware"
FOUR = [("en", "English"), ("de", "Deutsch"), ("es", "Español"), ("fr", "Français")]
WRONG = {"email": "nobody@example.com", "password": "wrong password"}

pytestmark = pytest.mark.django_db


def ask(path="/auth/login", body=None, **headers):
    client = Client(headers={name.replace("_", "-"): value for name, value in headers.items()})
    return client.post(path, body or WRONG, content_type="application/json")


def message(response):
    return response.json()["message"]


def test_project_without_languages_of_its_own_answers_in_english():
    response = ask(accept_language="de")

    assert message(response) == ENGLISH
    assert response.headers["Content-Language"] == "en-us"
    assert "Accept-Language" not in response.headers.get("Vary", "")


def test_project_in_german_answers_in_german(settings):
    settings.LANGUAGE_CODE = "de"

    assert message(ask(accept_language="fr")) == GERMAN


def test_project_with_languages_answers_in_that_of_the_client(settings):
    settings.LANGUAGES = FOUR

    response = ask(accept_language="de-AT,de;q=0.9,en;q=0.5")

    assert message(response) == GERMAN
    assert response.headers["Content-Language"] == "de"
    assert "Accept-Language" in response.headers["Vary"]
    assert message(ask(accept_language="es")) == "Las credenciales no son válidas."
    assert message(ask(accept_language="fr")) == "Les identifiants ne sont pas valides."
    assert message(ask()) == ENGLISH


def test_cookie_of_the_project_has_precedence_over_the_header(settings):
    settings.LANGUAGES = FOUR

    response = ask(accept_language="fr", cookie=f"{settings.LANGUAGE_COOKIE_NAME}=de")

    assert message(response) == GERMAN


def test_language_of_a_middleware_of_the_project_is_kept(settings):
    settings.LANGUAGES = FOUR
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.languages.middleware.french"]

    assert message(ask(accept_language="de")) == "Les identifiants ne sont pas valides."


def test_locale_middleware_decides_if_it_is_installed(settings):
    settings.MIDDLEWARE = [LOCALE, *settings.MIDDLEWARE]

    assert message(ask(accept_language="de")) == GERMAN


def test_code_and_status_are_the_same_in_every_language(settings):
    settings.LANGUAGES = FOUR
    answers = [ask(accept_language=code) for code in ("en", "de", "es", "fr")]

    assert {(a.status_code, a.json()["data"]["code"]) for a in answers} == {
        (401, "INVALID_CREDENTIALS")
    }


def test_success_message_is_translated(settings):
    settings.LANGUAGES = FOUR
    make_user()

    body = {"email": "ann@example.com", "password": PASSWORD}
    response = ask(body=body, accept_language="de")

    assert response.json()["data"]["message"] == "Sie sind angemeldet."


WEAK = {"email": "new@example.com", "password": "kurz"}


@pytest.mark.parametrize("decided", ["negotiated", "project", "middleware"])
def test_rules_of_passwords_are_in_one_language(settings, decided):
    settings.AUTH_PASSWORD_VALIDATORS = [
        {"NAME": f"django.contrib.auth.password_validation.{name}"}
        for name in ("MinimumLengthValidator", "CommonPasswordValidator")
    ]
    if decided == "negotiated":
        settings.LANGUAGES = FOUR
    elif decided == "project":
        settings.LANGUAGE_CODE = "de"
    else:
        settings.MIDDLEWARE = [LOCALE, *settings.MIDDLEWARE]

    weak = {**WEAK, "password": "qwerty"}

    assert message(ask("/auth/signup", weak, accept_language="de")) == (
        "password: Muss mindestens 8 Zeichen lang sein. Dieses Passwort ist zu üblich."
    )


def test_language_without_a_catalogue_is_replaced_for_the_rules_of_django_too(
    settings, monkeypatch
):
    settings.MIDDLEWARE = [LOCALE, *settings.MIDDLEWARE]
    settings.AUTH_PASSWORD_VALIDATORS = [
        {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"}
    ]
    weak = {**WEAK, "password": "qwerty"}

    english = ask("/auth/signup", weak, accept_language="it")
    settings.LANGUAGE_CODE = "de"
    # Django keeps catalogues with the fallback to the former language.
    monkeypatch.setattr(trans_real, "_translations", {})
    german = ask("/auth/signup", weak, accept_language="it")

    assert message(english) == (
        "password: Must have at least 8 characters. This password is too common."
    )
    assert english.headers["Content-Language"] == "en-us"
    assert message(german) == (
        "password: Muss mindestens 8 Zeichen lang sein. Dieses Passwort ist zu üblich."
    )
    assert german.headers["Content-Language"] == "de"


def test_details_of_an_error_are_translated(settings, configure):
    settings.LANGUAGE_CODE = "de"
    configure(API={"ERROR_DETAILS": True})

    response = ask("/auth/signup", {"email": 7})

    assert response.json()["data"]["details"] == {
        "email": ["Muss eine Zeichenkette sein."],
        "password": ["Dieses Feld ist erforderlich."],
    }


def test_without_internationalisation_everything_is_in_english(settings, monkeypatch):
    settings.USE_I18N = False
    settings.LANGUAGE_CODE = "de"
    monkeypatch.setattr(translation, "_trans", trans_null)  # Django reads USE_I18N only once

    response = ask()

    assert message(response) == ENGLISH
    assert response.headers["Content-Language"] == "en"


HOSTILE = [
    "*",
    "*,de;q=0.5",
    "../../../etc/passwd",
    "de/../../secret",
    "de\x00",
    "q=1;q=2;;;,,,",
    "de;q=nan,fr;q=-1,es;q=1e9",
    "x" * 5000,
    ",".join(f"x{number}-y" for number in range(1000)),
    "de-" + "a-" * 2000,
    "ü" * 100,
]


@pytest.mark.parametrize("header", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_header_is_ignored(settings, header):
    settings.LANGUAGES = FOUR

    response = Client().post(
        "/auth/login", WRONG, content_type="application/json", HTTP_ACCEPT_LANGUAGE=header
    )

    assert response.status_code == 401
    assert message(response) in (ENGLISH, GERMAN)


@pytest.mark.parametrize("cookie", ["../../etc/passwd", "d" * 4000, "%00", "de'--"])
def test_hostile_cookie_is_ignored(settings, cookie):
    settings.LANGUAGES = FOUR

    response = ask(cookie=f"{settings.LANGUAGE_COOKIE_NAME}={cookie}")

    assert message(response) == ENGLISH


def test_long_header_looks_up_few_languages(settings, monkeypatch):
    settings.LANGUAGES = FOUR
    asked = []
    variant = translation.get_supported_language_variant
    monkeypatch.setattr(
        translation,
        "get_supported_language_variant",
        lambda code, **_: asked.append(code) or variant(code),
    )

    alphabet = "abcdefghijklmnopqrstuvwxyz"
    ask(accept_language=",".join(f"q{one}{two}" for one in "xy" for two in alphabet))

    assert len(asked) == languages._CONSIDERED + 1  # and the cookie


def test_language_ends_with_the_request(settings):
    settings.LANGUAGES = FOUR
    before = translation.get_language()

    ask(accept_language="de")

    assert translation.get_language() == before
    assert message(ask()) == ENGLISH


RULES = {
    "en": "email: Must be a string.",
    "de": "email: Muss eine Zeichenkette sein.",
    "es": "email: Debe ser una cadena de texto.",
    "fr": "email\u00a0: Doit être une chaîne de caractères.",
}


def test_language_does_not_leak_between_threads(settings, configure):
    settings.LANGUAGES = FOUR
    configure(THROTTLE={"ENABLED": False})

    def one(code):
        return code, message(ask("/auth/signup", {"email": 7}, accept_language=code))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, list(RULES) * 25))

    assert [(code, text) for code, text in answers if RULES[code] != text] == []


def test_language_does_not_leak_between_concurrent_async_requests(settings, configure):
    settings.LANGUAGES = FOUR
    configure(THROTTLE={"ENABLED": False})

    async def one(code):
        response = await AsyncClient().post(
            "/auth/signup",
            {"email": 7},
            content_type="application/json",
            headers={"accept-language": code},
        )
        return code, message(response)

    async def many():
        return await asyncio.gather(*(one(code) for code in list(RULES) * 10))

    answers = asyncio.run(many())

    assert [(code, text) for code, text in answers if RULES[code] != text] == []
