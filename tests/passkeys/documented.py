"""The functions of docs/passkeys.rst and docs/step_up.rst, on a page of a project in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyotp

ROOT = Path(__file__).parents[2]
FUNCTION = re.compile(r"^   async function [\s\S]*?\n   \}", re.MULTILINE)

LIFE_OF_A_PASSKEY = """
const done = arguments[0];
(async () => {
    const email = `docs${Date.now()}@example.com`;
    const wanted = {email, name: "Ann", password: "plum tart 42 windows"};
    const user = await call("POST", "signup", wanted);
    const passkey = await addPasskey(user.access_token, {name: "Laptop"});
    await tellBrowser(user.access_token);
    const login = await signIn("optional");
    await call("DELETE", `passkeys/${passkey.id}`, undefined, login.access_token);
    await tellBrowser(login.access_token);
    const refused = await signIn("optional").catch(error => error.name);
    done([passkey.name, login.user.email === email, refused]);
})().catch(error => done(String(error)));
"""
_NEW_USER = """
const [passkey, done] = arguments;
(async () => {
    const email = `step${Date.now()}@example.com`;
    const wanted = {email, name: "Ann", password: "plum tart 42 windows"};
    const {access_token} = await call("POST", "signup", wanted);
    if (passkey) await addPasskey(access_token);
    const {secret, backup_codes} = await call("POST", "2fa/setup", {}, access_token);
    done([access_token, secret, backup_codes, Date.now()]);
})().catch(error => done(String(error)));
"""
_ENABLE = """
const [token, code, done] = arguments;
call("POST", "2fa/verify", {code}, token).then(() => done(true), error => done(String(error)));
"""
# `asked` are the methods for which the page asks the user, who types a backup code.
_STEP_UP = """
const [token, [code], done] = arguments;
(async () => {
    const asked = [];
    const ask = async methods => { asked.push(methods); return {code}; };
    const send = token => call("POST", "passkeys/options", {}, token);
    const result = await withStepUp(token, ask, send);
    const {acr} = JSON.parse(atob(result.token.split(".")[1]));
    done([acr, "options" in result.data, asked]);
})().catch(error => done(String(error)));
"""


class Documented:
    """A page of the project that has these functions."""

    def __init__(self, person: Any) -> None:
        self._browser = person.browser
        pages = [(ROOT / f"docs/{name}.rst").read_text() for name in ("passkeys", "step_up")]
        # Each page has its `call`, of which the last one counts.
        code = "\n".join(function for page in pages for function in FUNCTION.findall(page))
        self._code = code.replace("/auth/", f"{person.site.run.prefix}/auth/")
        person.open("/")  # the policy of the service's own pages allows no requests

    def run(self, script: str, *given: Any) -> Any:
        code = f"let waiting;\n{self._code}\n{script}"
        return self._browser.execute_async_script(code, *given)

    def new_user(self, *, passkey: bool) -> tuple[str, list[str]]:
        """The token of a session that has proven the password only, and backup codes."""
        token, secret, backup_codes, milliseconds = self.run(_NEW_USER, passkey)
        # By the clock of the browser and the server: that of the test does not run.
        enabled = self.run(_ENABLE, token, pyotp.TOTP(secret).at(milliseconds // 1000))
        assert enabled is True, enabled
        return token, backup_codes

    def step_up(self, token: str, backup_codes: list[str]) -> Any:
        """The level of the new token, whether the request was repeated, and what was asked for."""
        return self.run(_STEP_UP, token, backup_codes)
