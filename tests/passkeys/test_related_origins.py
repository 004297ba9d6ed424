"""Two domains of one service use one passkey, in a real Chromium with https; a third one does not.

The browser reads `/.well-known/webauthn` of the first domain, as it does on the internet. What it
signs is also given to the server of `fido2`, as in `test_browser.py`.
"""

import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_der_private_key
from django.urls import include, path
from fido2.utils import websafe_decode

from tests.passkeys.authenticator import UP, UV, Authenticator, Credential
from tests.passkeys.both_verifiers import Verifiers
from tests.passkeys.recorded import record, taken
from tests.passkeys.secure_sites import Authority, secured
from tests.passkeys.virtual import PLATFORM, Virtual, devtools
from tests.support.browser import chromium, console_errors, needs_chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.urls(__name__),
    needs_chromium,
]

urlpatterns = [
    path("", include("authservice.passkeys.root_urls")),
    path("auth/", include("authservice.urls")),
]
FIRST, SECOND, THIRD = "plum.test", "plum-tarts.example", "evil.test"
DOCS = Path(__file__).parents[2] / "docs/passkeys.rst"
FUNCTION = re.compile(r"^   async function [\s\S]*?\n   \}", re.MULTILINE)
ENROL = """
const wanted = {email: "ann@example.com", name: "Ann", password: "plum tart 42 windows"};
const user = await call("POST", "signup", wanted);
return (await addPasskey(user.access_token, {name: "Laptop"})).name;
"""
SIGN_IN = "return (await signIn('optional')).user.email;"


@pytest.fixture
def browser(live_server, settings, passkeys, tmp_path):
    """A browser for which the three domains are this machine, at the usual port."""
    settings.ALLOWED_HOSTS = [FIRST, SECOND, THIRD, "testserver"]
    passkeys(RP_ID=FIRST, ORIGINS=[f"https://{FIRST}", f"https://{SECOND}"])
    authority = Authority(tmp_path, FIRST, SECOND, THIRD)
    behind = int(live_server.url.rpartition(":")[2])
    with secured(behind, authority) as port:
        names = ", ".join(f"MAP {name}:443 127.0.0.1:{port}" for name in (FIRST, SECOND, THIRD))
        rules = f"--host-resolver-rules={names}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        with chromium(tmp_path, rules, authority.switch) as browser:
            record(browser)
            yield browser


def run(browser, domain, script):
    """Run the code of the docs and `script` on a page of this domain; what it returns, or the name
    of its error."""
    browser.get(f"https://{domain}/")
    code = "\n".join(FUNCTION.findall(DOCS.read_text()))
    return browser.execute_async_script(
        f"let waiting;\n{code}\nconst done = arguments[0];\n"
        f"(async () => {{ {script} }})().then(done, error => done(`${{error.name}} ${{error}}`));"
    )


def test_two_domains_use_one_passkey_and_a_third_does_not(browser, api):
    with devtools(browser) as tools:
        laptop = Virtual(tools, PLATFORM)
        assert run(browser, FIRST, ENROL) == "Laptop"

        assert run(browser, FIRST, SIGN_IN) == "ann@example.com"
        assert run(browser, SECOND, SIGN_IN) == "ann@example.com"
        assert run(browser, THIRD, SIGN_IN).startswith("SecurityError")
        assert console_errors(browser) == []
        made = {domain: recorded(browser, domain) for domain in (FIRST, SECOND, THIRD)}

        (stolen,) = laptop.credentials()
    assert forged(api, stolen, f"https://{SECOND}").status == 200
    refused = forged(api, stolen, f"https://{THIRD}")
    assert (refused.status, refused.code) == (401, "PASSKEY_INVALID")
    assert {domain: [one["kind"] for one in signed] for domain, signed in made.items()} == {
        FIRST: ["create", "get"],
        SECOND: ["get"],
        THIRD: [],
    }
    verifiers = Verifiers(FIRST, f"https://{FIRST}", f"https://{SECOND}")
    tried = verifiers.agree([*made[FIRST], *made[SECOND]])
    assert {("create", "origin"), ("get", "origin")} <= tried


def recorded(browser, domain):
    """What the browser has signed on pages of this domain."""
    browser.get(f"https://{domain}/")
    return taken(browser)


def forged(api, stolen, origin):
    """A login with the key of the browser, signed for an origin without a browser."""
    key = load_der_private_key(_bytes(stolen["privateKey"]), None)
    kind = "EdDSA" if "ed25519" in type(key).__module__.lower() else "ES256"
    handle = stolen["userHandle"].replace("+", "-").replace("/", "_").rstrip("=")
    credential = Credential(_bytes(stolen["credentialId"]), key, kind, handle, counter=1000)
    device = Authenticator(flags=UP | UV, origin=origin, credentials=[credential])
    begun = api.post("passkeys/login/options").data
    answer = device.get(begun["options"])
    return api.post("passkeys/login", request_token=begun["request_token"], credential=answer)


def _bytes(text):
    return websafe_decode(text.replace("+", "-").replace("/", "_").rstrip("="))
