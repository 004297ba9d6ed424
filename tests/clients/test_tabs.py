"""The TypeScript client in a real Chromium: many tabs, cookies, and the pages of links."""

import json

import pytest

from tests.clients.people import PASSWORD, address, expired, mailed_link
from tests.support.browser import needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium]

TABS = 10
# `show` answers with the status of GET /me when another tab says "go".
SET_UP = """
const [baseUrl, mode] = arguments;
window.auth = new client.AuthClient({ baseUrl, mode, storage: client.webStorage() });
window.states = [];
auth.onChange((state) => states.push(state));
window.channel = new BroadcastChannel("go");
window.answered = new Promise((resolve) => {
  channel.onmessage = () => auth.me().then((me) => resolve(me.status));
});
"""
WITHOUT_LOCKS = "Object.defineProperty(navigator, 'locks', { value: undefined });"


def run(browser, script, *arguments):
    """The result of an async function with this body."""
    wrapped = f"""
        const done = arguments[arguments.length - 1];
        (async (...given) => {{ {script} }})(...arguments)
            .then((value) => done([value]), (error) => done(String(error)));
    """
    found = browser.execute_async_script(wrapped, *arguments)
    assert isinstance(found, list), found
    return found[0]


def open_page(browser, origin, service, *, mode, first=""):
    browser.get(f"{origin}/")
    browser.execute_script(first)
    browser.execute_script(SET_UP, service.url, mode)


def sign_up(browser):
    script = "return auth.signUp({ email: given[0], password: given[1] })"
    outcome = run(browser, script, address(), PASSWORD)
    assert outcome["status"] == "signed_in"


def expire_stored(browser):
    tokens = json.loads(browser.execute_script("return localStorage['authservice:session']"))
    tokens["access_token"] = expired(tokens["access_token"])
    script = "localStorage['authservice:session'] = arguments[0]"
    browser.execute_script(script, json.dumps(tokens))


@pytest.fixture
def page(browser, bundled):
    """Opens pages of the client in tabs of their own; those of the test before are closed."""
    browser.switch_to.new_window("tab")
    kept = browser.current_window_handle
    for handle in browser.window_handles:
        if handle != kept:
            browser.switch_to.window(handle)
            browser.close()
    browser.switch_to.window(kept)
    browser.get(f"{bundled.pages}/")
    browser.execute_script("localStorage.clear()")
    browser.delete_all_cookies()
    return browser


def tabs(browser, bundled, service, **how):
    """Further tabs with the client, so that there are ten with the current one."""
    own = browser.current_window_handle
    for _ in range(TABS - 1):
        browser.switch_to.new_window("tab")
        open_page(browser, bundled.pages, service, **how)
    return [one for one in browser.window_handles if one != own], own


def statuses(browser, others, own):
    """What GET /me is answered in every tab, if all call it at once."""
    browser.switch_to.window(own)
    mine = run(browser, "channel.postMessage('go'); return (await auth.me()).status")
    found = [mine]
    for tab in others:
        browser.switch_to.window(tab)
        found.append(run(browser, "return answered"))
    browser.switch_to.window(own)
    return found


def test_ten_tabs_with_bearer_tokens_make_one_refresh(page, bundled):
    service = bundled.bearer
    open_page(page, bundled.pages, service, mode="bearer")
    sign_up(page)
    others, own = tabs(page, bundled, service, mode="bearer")
    expire_stored(page)
    before = len(service.requests("POST /auth/refresh"))

    assert statuses(page, others, own) == ["ok"] * TABS

    assert len(service.requests("POST /auth/refresh")) - before == 1


def test_ten_tabs_with_cookies_make_one_refresh(page, bundled):
    service = bundled.cookies
    open_page(page, bundled.pages, service, mode="cookies")
    sign_up(page)
    others, own = tabs(page, bundled, service, mode="cookies")
    # As the browser does when the token expires.
    page.delete_cookie("authservice_access")
    before = len(service.requests("POST /auth/refresh"))

    assert statuses(page, others, own) == ["ok"] * TABS

    assert len(service.requests("POST /auth/refresh")) - before == 1
    stored = page.execute_script("return JSON.stringify(localStorage)")
    assert "access_token" not in stored


def test_ten_tabs_without_locks_stay_signed_in(page, bundled):
    service = bundled.bearer
    open_page(page, bundled.pages, service, mode="bearer", first=WITHOUT_LOCKS)
    sign_up(page)
    others, own = tabs(page, bundled, service, mode="bearer", first=WITHOUT_LOCKS)
    expire_stored(page)
    before = len(service.requests("POST /auth/refresh"))

    assert statuses(page, others, own) == ["ok"] * TABS

    assert service.requests("POST /auth/refresh")[before:].count(200) == 1


def test_replayed_token_signs_every_tab_out(page, bundled):
    service = bundled.bearer
    open_page(page, bundled.pages, service, mode="bearer")
    sign_up(page)
    own = page.current_window_handle
    page.switch_to.new_window("tab")
    open_page(page, bundled.pages, service, mode="bearer")
    thief = """
        let { refresh_token } = JSON.parse(localStorage["authservice:session"]);
        for (const _ of [1, 2]) {
            const response = await fetch(given[0] + "/refresh", {
                method: "POST",
                headers: { "Content-Type": "application/json" },
                body: JSON.stringify({ refresh_token }),
            });
            refresh_token = (await response.json()).data.refresh_token;
        }
    """
    run(page, thief, service.url)
    expire_stored(page)

    outcome = run(page, "return auth.me()")

    assert outcome == {"status": "signed_out", "reason": "session_ended"}
    page.switch_to.window(own)
    notified = "while (!states.includes('signed_out')) await new Promise((r) => setTimeout(r, 20));"
    run(page, notified)
    assert run(page, "return auth.me()")["status"] == "signed_out"


@pytest.mark.parametrize("mode", ["bearer", "cookies"])
def test_visit_without_a_session_sends_no_request(page, bundled, mode):
    service = getattr(bundled, mode)
    open_page(page, bundled.pages, service, mode=mode)
    page.get_log("browser")
    before = service.access_log.read_text()

    outcome = run(page, "return auth.me()")

    assert outcome == {"status": "signed_out", "reason": "not_signed_in"}
    assert service.access_log.read_text() == before
    assert page.get_log("browser") == []


def test_session_that_another_page_began_is_found_if_the_client_always_asks(page, bundled):
    service = bundled.cookies
    open_page(page, bundled.pages, service, mode="cookies")
    sign_up(page)
    page.execute_script("localStorage.clear()")
    asking = "new client.AuthClient({ baseUrl: given[0], mode: 'cookies', alwaysAsk: true }).me()"

    assert run(page, "return auth.me()")["status"] == "signed_out"
    assert run(page, f"return {asking}", service.url)["status"] == "ok"
    page.delete_cookie("authservice_access")  # as the browser does when the token expires
    assert run(page, f"return {asking}", service.url)["status"] == "ok"
    assert run(page, "return auth.me()")["status"] == "ok"


def test_csrf_token_of_another_tab_is_replaced(page, bundled):
    service = bundled.cookies
    open_page(page, bundled.pages, service, mode="cookies")
    sign_up(page)
    rename = "return auth.answer(auth.api.PATCH('/profile', { body: { name: given[0] } }))"
    assert run(page, rename, "Ann")["data"]["name"] == "Ann"
    page.execute_script("localStorage['authservice:csrf'] = 'of an hour ago'")

    assert run(page, rename, "Bea")["data"]["name"] == "Bea"
    assert service.requests("PATCH /auth/profile")[-3:] == [200, 403, 200]
    assert run(page, "return auth.logOut()")["status"] == "ok"
    assert run(page, "return auth.me()")["status"] == "signed_out"


def test_magic_link_arrives_with_tokens_in_the_fragment(page, bundled):
    outcome, email, fragment = arrive_by_link(page, bundled, bundled.bearer, mode="bearer")

    assert [outcome["status"], outcome["user"]["email"]] == ["signed_in", email]
    assert "access_token" in fragment


def test_magic_link_arrives_without_tokens_in_the_fragment_if_they_are_cookies(page, bundled):
    outcome, email, fragment = arrive_by_link(page, bundled, bundled.cookies, mode="cookies")

    assert [outcome["status"], outcome["user"]["email"]] == ["signed_in", email]
    assert fragment == "#status=signed_in"


def arrive_by_link(page, bundled, service, *, mode):
    """The outcome for a new user, their address and the fragment."""
    email = address()
    open_page(page, bundled.pages, service, mode=mode)
    script = "return auth.signUp({ email: given[0], password: given[1] })"
    run(page, script, email, PASSWORD)
    run(page, "await auth.logOut()")
    send = "return auth.answer(auth.api.POST('/magic-link/send', { body: { email: given[0] } }))"
    assert run(page, send, email)["data"]["status"] == "sent"

    page.get(mailed_link(service.mailbox, email))
    # None if the browser sent the cookie of the request for the link.
    for button in page.find_elements("css selector", "button"):
        button.click()
    run(page, "while (!window.client) await new Promise((r) => setTimeout(r, 20));")
    page.execute_script(SET_UP, service.url, mode)
    fragment = page.execute_script("return location.hash")
    return run(page, "return auth.arrive(location.hash)"), email, fragment
