"""A person with a keyboard in Chromium, who finds things by role, address and `autocomplete`: the
same walk works in every language."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.languages import catalogues
from tests.languages.texts import ROOT
from tests.pages.served.projects import Run, Site
from tests.support.axe import violations
from tests.support.browser import console_errors, requested

# Width, height, and whether it is a phone.
SIZES = {"phone": (320, 640, True), "desktop": (1280, 900, False)}
_WAIT = 20
# What axe-core and the Tab key have been through, in any language: path, elements, size, colours.
_CHECKED: set[tuple[str, str, str, str]] = set()
_STRUCTURE = "return [...document.querySelectorAll('main *')].map(one => one.tagName).join()"
# Elements that the Tab key reaches, in the order of the document.
_REACHED = """
const reached = [...document.querySelectorAll("a[href], button, input, select, textarea")]
    .filter(one => one.type != "hidden" && !one.disabled && one.tabIndex >= 0)
    .filter(one => one.checkVisibility());
const visible = one => {
    const style = getComputedStyle(one);
    const width = parseFloat(style.outlineWidth);
    // "auto" is the browser's own, in pages without a style.
    return style.outlineStyle == "auto" || (style.outlineStyle != "none" && width >= 2);
};
"""
_STEPS = f"""{_REACHED}
const target = arguments[0];
return [reached.indexOf(document.activeElement), reached.indexOf(target)];
"""
_IS_FOCUSED = f"{_REACHED} return document.activeElement == arguments[0] && visible(arguments[0]);"
_RECORD = """
document.activeElement.blur();
window.scrollTo(0, 0);
window.focused = [];
document.addEventListener("focusin", event => window.focused.push(event.target));
const start = document.createElement("span");
start.tabIndex = -1;
document.body.prepend(start);
start.focus({preventScroll: true});
start.remove();
"""
_ORDER = f"""{_REACHED}
const got = window.focused.filter(one => one.isConnected).slice(0, reached.length);
const wrong = [];
reached.forEach((one, place) => {{
    if (got[place] != one) wrong.push(`Tab ${{place + 1}} does not reach ${{one.outerHTML}}`);
}});
return wrong;
"""
# What axe-core does not check.
_AUDIT = """
const [language, english] = arguments;
const wrong = [];
const inputs = document.querySelectorAll("input:not([type=hidden]), select");
for (const input of inputs) {
    if (!input.autocomplete) wrong.push(`no autocomplete: ${input.outerHTML}`);
}
const marked = document.documentElement.lang;
if (marked.split("-")[0] != language) wrong.push(`lang=${marked}`);
if (document.documentElement.scrollWidth > innerWidth) wrong.push("scrolls sideways");
if (document.scripts.length > 1) wrong.push("has several scripts");
if ([...document.scripts].some(script => script.src)) wrong.push("loads a script");
if (document.documentElement.outerHTML.length > 40000) wrong.push("is larger than 40 kB");
for (const image of document.images) {
    if (!image.complete || !image.naturalWidth) wrong.push(`not shown: ${image.outerHTML}`);
}
const known = new Set(english);
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const texts = [document.title];
while (walker.nextNode()) texts.push(walker.currentNode.nodeValue);
for (const text of texts) {
    if (known.has(text.trim())) wrong.push(`not translated: ${text.trim()}`);
}
return wrong;
"""


class Keyboard:
    def __init__(self, browser: Chrome, site: Site) -> None:
        self.browser, self.site = browser, site
        self.run: Run = site.run
        self.pages: set[str] = set()
        self.faults: list[str] = []
        self._emulate()

    def _emulate(self) -> None:
        browser, run = self.browser, self.run
        scheme = {"name": "prefers-color-scheme", "value": run.scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        width, height, mobile = SIZES[run.size]
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        agent = browser.execute_script("return navigator.userAgent")
        language = {"userAgent": agent, "acceptLanguage": run.language}
        browser.execute_cdp_cmd("Emulation.setUserAgentOverride", language)
        off = {"value": run.scripts == "off"}
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", off)
        browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        requested(browser), console_errors(browser)

    @property
    def path(self) -> str:
        """The path of the page below the prefix of the project, without the query."""
        parts = urlsplit(self.browser.current_url)
        assert parts.path.startswith(f"{self.run.prefix}/"), self.browser.current_url
        return parts.path.removeprefix(self.run.prefix)

    @property
    def text(self) -> str:
        return self.browser.find_element(By.TAG_NAME, "body").text

    def open(self, path: str) -> None:
        self.browser.get(path if path.startswith("http") else f"{self.site.url}{path}")
        self.look()

    def look(self) -> None:
        """Add to `faults` what is wrong with the page, and with what the browser did for it."""
        own = (self.site.url, "data:")
        others = [url for url in requested(self.browser) if not url.startswith(own)]
        found = [*others, *self._messages()]
        if self.path.startswith("/auth/"):
            found += self._audit()
        self.faults += [f"{self.path}: {fault}" for fault in found]

    def _messages(self) -> list[str]:
        """Errors of the console, and what Chromium advises about forms for password managers."""
        entries = self.browser.get_log("browser")
        found = [one for one in entries if one["level"] == "SEVERE" or "[DOM]" in one["message"]]
        # A form that was refused is an answer with an error, which Chromium reports.
        return [str(one["message"]) for one in found if " 400 " not in one["message"]]

    def _audit(self) -> list[str]:
        run = self.run
        found = self.browser.execute_script(_AUDIT, run.language, _english(run.language))
        self.pages.add(self.path)
        looks = (self.path, self.browser.execute_script(_STRUCTURE), run.size, run.scheme)
        if looks in _CHECKED:
            return list(found)
        if run.scripts == "on":  # the pages are the same, but both use scripts
            found += [*violations(self.browser), *self._order()]
            _CHECKED.add(looks)
        return list(found)

    def _order(self) -> list[str]:
        """What the Tab key does not reach, or in another order than a screen reader reads."""
        before = self.browser.switch_to.active_element
        self.browser.execute_script(_RECORD)
        count = self.browser.execute_script(f"{_REACHED} return reached.length;")
        ActionChains(self.browser).send_keys(Keys.TAB * count).perform()
        found = self.browser.execute_script(_ORDER)
        self.browser.execute_script("arguments[0].focus()", before)
        return list(found)

    def tab_to(self, element: Any) -> None:
        at, target = self.browser.execute_script(_STEPS, element)
        assert target >= 0, f"the Tab key does not reach {element.get_attribute('outerHTML')}"
        actions = ActionChains(self.browser)
        if target >= at:
            actions.send_keys(Keys.TAB * (target - at))
        else:
            back = Keys.TAB * (at - target)
            actions.key_down(Keys.SHIFT).send_keys(back).key_up(Keys.SHIFT)
        actions.perform()
        focused = self.browser.execute_script(_IS_FOCUSED, element)
        assert focused, f"no visible focus on {element.get_attribute('outerHTML')}"

    def fill(self, **typed: str) -> Any:
        """Type into the fields with these values of `autocomplete`; `_` in a name is `-`."""
        for name, text in typed.items():
            field = self.field(name.replace("_", "-"))
            self.tab_to(field)
            keys = Keys.CONTROL + "a" + Keys.NULL
            field.send_keys(keys, text)
        return field

    def field(self, autocomplete: str) -> Any:
        return self.one(f"input[autocomplete~='{autocomplete}']:not([hidden])")

    def one(self, selector: str) -> Any:
        """The first element of the page that is one."""
        found = self.browser.find_elements(By.CSS_SELECTOR, selector)
        assert found, (selector, self.browser.current_url, self.text)
        return found[0]

    def enter(self, **typed: str) -> str:
        """Fill in the form and press Enter in its last field; returns the path of the next page."""
        field = self.fill(**typed)
        return self._next(lambda: field.send_keys(Keys.ENTER))

    def press(self, **typed: str) -> str:
        """Fill in the form and press its button, the one of the page if nothing is typed."""
        form = self.one("main form")
        if typed:
            form = self.fill(**typed).find_element(By.XPATH, "ancestor::form")
        button = form.find_element(By.CSS_SELECTOR, "button:not([type=button])")
        self.tab_to(button)
        return self._next(lambda: ActionChains(self.browser).send_keys(Keys.SPACE).perform())

    def follow(self, address: str) -> str:
        """Follow the link to an address, by its end or a part of its query."""
        self.tab_to(self.one(f"a[href*='{address}']"))
        return self._next(lambda: ActionChains(self.browser).send_keys(Keys.ENTER).perform())

    def sign_out(self) -> str:
        """With the button at the top of the account."""
        button = self.one("form[action$='/logout'] button")
        self.tab_to(button)
        return self._next(lambda: ActionChains(self.browser).send_keys(Keys.ENTER).perform())

    def approve(self, address: str, subject: str) -> str:
        """Follow a link to the provider, and approve there."""
        self.tab_to(self.one(f"a[href*='{address}']"))
        self._wait(lambda: ActionChains(self.browser).send_keys(Keys.ENTER).perform())
        field = self.one("[name=sub]")
        self._wait(lambda: field.send_keys(subject, Keys.ENTER))
        # Those of the page of the provider.
        requested(self.browser), console_errors(self.browser)
        self.look()
        return self.path

    def links(self, part: str) -> list[str]:
        """The addresses of the links of the page that contain this."""
        found = self.browser.find_elements(By.CSS_SELECTOR, f"a[href*='{part}']")
        return list(dict.fromkeys(str(one.get_attribute("href")) for one in found))

    def _next(self, act: Callable[[], object]) -> str:
        self._wait(act)
        self.look()
        return self.path

    def _wait(self, act: Callable[[], object]) -> None:
        before = self.browser.find_element(By.TAG_NAME, "html")
        act()

        def is_there(browser: Chrome) -> bool:
            is_new = browser.find_element(By.TAG_NAME, "html").id != before.id
            return is_new and browser.execute_script("return document.readyState") == "complete"

        WebDriverWait(self.browser, _WAIT, poll_frequency=0.05).until(is_there)


@cache
def _english(language: str) -> list[str]:
    """The texts of the pages that are different in this language."""
    if language == "en":
        return []
    found = set()
    for app in ("core", "pages"):
        path = catalogues.path_of(ROOT / "authservice" / app, language)
        for message in catalogues.read(path, language):
            text, other = message.id, message.string
            if isinstance(text, str) and text and other not in ("", text) and "%(" not in text:
                found.add(text)
    return sorted(found)
