"""What pages ask a browser for and what it signs, recorded for a second verifier."""

from __future__ import annotations

from typing import Any

from selenium.webdriver import Chrome

# Stores what a page asks the browser for, and what the browser answers.
_RECORD = """
for (const kind of ["create", "get"]) {
    const own = navigator.credentials[kind].bind(navigator.credentials);
    navigator.credentials[kind] = async (asked) => {
        const answer = await own(asked);
        const made = JSON.parse(localStorage.getItem("made") ?? "[]");
        made.push({kind, mediation: asked.mediation ?? "", answer: answer.toJSON()});
        localStorage.setItem("made", JSON.stringify(made));
        return answer;
    };
}
const conditional = PublicKeyCredential.isConditionalMediationAvailable;
PublicKeyCredential.isConditionalMediationAvailable = async () =>
    !localStorage.getItem("no autofill") && await conditional.call(PublicKeyCredential);
"""
_TAKE = """
const made = JSON.parse(localStorage.getItem("made") ?? "[]");
localStorage.removeItem("made");
return made;
"""


def record(browser: Chrome) -> None:
    """Record on every page from now on."""
    source = {"source": _RECORD}
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", source)


def taken(browser: Chrome) -> list[dict[str, Any]]:
    """What the pages of this origin got since the last call."""
    made: list[dict[str, Any]] = browser.execute_script(_TAKE)
    return made
