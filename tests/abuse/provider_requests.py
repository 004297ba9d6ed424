"""Requests to the routes of identity providers, each with the secrets that it has."""

from functools import partial

from tests.oauth import browsing
from tests.oauth.browsing import Browser
from tests.oauth.in_process import office as acme
from tests.oauth.servers import parameters_of
from tests.support.client import PASSWORD

HERS = browsing.profile()


def callback(world, provider="acme", send=Browser.come_back, who=HERS):
    """A callback; the provider accepts its code again each time that the request is repeated."""
    browser = Browser(world.api)
    address = acme.approve(browser.start(provider), who)
    grants, kept, sent = dict(acme.grants), dict(browser.cookies), parameters_of(address)

    def request():
        acme.grants, browser.cookies = dict(grants), dict(kept)
        return send(browser, address)

    return {sent["state"], sent["code"], *kept.values()}, request


def callback_by_form(world):
    return callback(world, "acme-form", Browser.post_back)


def callback_of_a_new_user(world):
    return callback(world, who=browsing.profile("new", "new@example.com"))


def linking(world):
    body = {"password": PASSWORD}
    request = partial(world.api.request, "POST", "oauth/acme/link", body, token=world.ann.token)
    return {PASSWORD, world.ann.token}, request


def native_app(world):
    nonce = world.api.post("oauth/acme/nonce").data["nonce"]
    body = {"id_token": acme.id_token(HERS, nonce), "nonce": nonce}
    return set(body.values()), partial(world.api.post, "oauth/acme/token", **body)
