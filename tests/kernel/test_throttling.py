"""Rate limits: requests per client address, and how client addresses are determined."""

import pytest
from django.core.cache import cache

from tests.support.client import PASSWORD
from tests.support.people import users

pytestmark = pytest.mark.django_db

RATE_LIMITED = (429, "TOO_MANY_REQUESTS")


@pytest.fixture
def sign_up(api, clock):
    """Sign up as a new user, from a client address and with headers."""
    number = iter(range(1000))

    def sign_up(address="192.0.2.1", **headers):
        body = {"email": f"ann{next(number)}@example.com", "password": PASSWORD}
        return api.request("POST", "signup", body, headers=headers, REMOTE_ADDR=address)

    return sign_up


def test_signups_are_limited_to_twenty_an_hour(sign_up):
    assert [sign_up().status for _ in range(21)] == [201] * 20 + [429]
    assert users() == 20


def test_rate_limited_signup_has_retry_after(sign_up, clock):
    for _ in range(20):
        sign_up()
    clock.forward(minutes=10)

    answer = sign_up()

    assert answer.error == RATE_LIMITED
    assert answer.headers["Retry-After"] == str(50 * 60)


def test_signup_succeeds_after_retry_after(sign_up, clock):
    for _ in range(20):
        sign_up()
    clock.forward(seconds=int(sign_up().headers["Retry-After"]))

    assert sign_up().status == 201


def test_refused_signups_count_for_the_rate_limit(api, clock):
    statuses = [api.post("signup", email="nobody").status for _ in range(21)]

    assert statuses == [400] * 20 + [429]


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "login", 405), ("GET", "nowhere", 404)]
)
def test_requests_without_a_route_are_limited_by_the_general_rate(
    api, clock, configure, method, path, status
):
    configure(THROTTLE={"RATES": {"default": "2/d"}})

    answers = [api.request(method, path) for _ in range(3)]

    assert [answer.status for answer in answers] == [status, status, 429]
    assert answers[-1].error == RATE_LIMITED
    assert int(answers[-1].headers["Retry-After"]) > 0


def test_wrong_method_does_not_count_for_the_rate_limit_of_the_route(api, clock, configure):
    configure(THROTTLE={"RATES": {"signup": "1/h"}})
    api.get("signup")

    assert api.post("signup", email="ann@example.com", password=PASSWORD).status == 201


def test_rate_limit_counts_another_address_separately(sign_up):
    for _ in range(20):
        sign_up("192.0.2.1")

    assert sign_up("192.0.2.2").status == 201


def test_rate_limit_counts_other_routes_separately(api, sign_up):
    for _ in range(21):
        sign_up()

    assert api.post("login", email="nobody@example.com", password="x").status == 401


def test_rate_limit_counts_addresses_of_one_ipv6_network_together(sign_up):
    for host in range(20):
        sign_up(f"2001:db8:1:2::{host:x}")

    assert sign_up("2001:db8:1:2:ffff:ffff:ffff:ffff").error == RATE_LIMITED
    assert sign_up("2001:db8:1:3::1").status == 201


def test_rate_limit_counts_ipv4_mapped_ipv6_as_ipv4(sign_up):
    for _ in range(20):
        sign_up("192.0.2.1")

    assert sign_up("::ffff:192.0.2.1").error == RATE_LIMITED
    assert sign_up("::ffff:192.0.2.2").status == 201


def test_rate_limit_accepts_an_invalid_client_address(sign_up):
    assert {sign_up(address).status for address in ("", "unix:", "fe80::1%eth0")} == {201}


def test_x_forwarded_for_is_not_trusted_by_default(sign_up):
    for number in range(20):
        sign_up(**{"X-Forwarded-For": f"203.0.113.{number}"})

    assert sign_up(**{"X-Forwarded-For": "198.51.100.1"}).error == RATE_LIMITED


def test_client_address_behind_a_trusted_proxy_is_the_one_it_added(sign_up, configure):
    configure(TRUSTED_PROXIES=1)
    for _ in range(20):
        sign_up(**{"X-Forwarded-For": "203.0.113.1"})

    assert sign_up(**{"X-Forwarded-For": "203.0.113.1"}).error == RATE_LIMITED
    assert sign_up(**{"X-Forwarded-For": "203.0.113.2"}).status == 201


def test_addresses_before_the_entry_of_a_trusted_proxy_are_not_trusted(sign_up, configure):
    configure(TRUSTED_PROXIES=1)
    for number in range(20):
        sign_up(**{"X-Forwarded-For": f"198.51.100.{number}, 203.0.113.1"})

    assert sign_up(**{"X-Forwarded-For": "198.51.100.99,203.0.113.1"}).error == RATE_LIMITED


def warnings(caplog):
    return [one.getMessage() for one in caplog.records if "TRUSTED_PROXIES" in one.getMessage()]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded"])
def test_forwarding_header_without_trusted_proxies_is_logged_once(
    sign_up, configure, caplog, header
):
    configure(TRUSTED_PROXIES=0)
    for _ in range(3):
        sign_up(**{header: "for=203.0.113.1"})

    (warning,) = warnings(caplog)
    assert f"header {header}," in warning
    assert "203.0.113.1" not in warning


@pytest.mark.parametrize("proxies", [1, None])
def test_forwarding_header_of_a_known_proxy_is_not_logged(sign_up, configure, caplog, proxies):
    configure(TRUSTED_PROXIES=proxies)
    sign_up(**{"X-Forwarded-For": "203.0.113.1"})

    assert warnings(caplog) == []


def test_request_without_a_forwarding_header_is_not_logged(sign_up, configure, caplog):
    configure(TRUSTED_PROXIES=0)
    sign_up()

    assert warnings(caplog) == []


def test_client_address_without_a_proxy_is_the_peer(sign_up, configure):
    configure(TRUSTED_PROXIES=None)
    for number in range(20):
        sign_up(**{"X-Forwarded-For": f"203.0.113.{number}"})

    assert sign_up(**{"X-Forwarded-For": "203.0.113.99"}).error == RATE_LIMITED


@pytest.mark.parametrize("chain", ["", "203.0.113.5", ","])
def test_client_address_of_a_chain_that_is_too_short_is_the_peer(sign_up, configure, chain):
    configure(TRUSTED_PROXIES=2)
    for _ in range(20):
        sign_up()

    assert sign_up(**{"X-Forwarded-For": chain}).error == RATE_LIMITED


def test_rate_limits_can_be_disabled(sign_up, configure):
    configure(THROTTLE={"ENABLED": False})

    assert {sign_up().status for _ in range(25)} == {201}


def test_rate_of_a_route_is_a_setting(sign_up, configure):
    configure(THROTTLE={"RATES": {"signup": "2/10min"}})

    assert [sign_up().status for _ in range(3)] == [201, 201, 429]


def test_failed_logins_of_one_address_at_many_names_are_limited(api, clock):
    errors = [
        api.post("login", email=f"nobody{n}@example.com", password="x").error for n in range(101)
    ]

    assert errors == [(401, "INVALID_CREDENTIALS")] * 100 + [RATE_LIMITED]


def test_rate_limited_address_cannot_lock_out_other_users(api, clock):
    api.sign_up()
    for number in range(100):
        api.post("login", email=f"nobody{number}@example.com", password="x")
    for _ in range(10):
        assert api.post("login", email="ann@example.com", password="x").error == RATE_LIMITED

    body = {"email": "ann@example.com", "password": PASSWORD}
    assert api.request("POST", "login", body, REMOTE_ADDR="192.0.2.9").status == 200


def test_successful_logins_do_not_count_as_attempts(api, clock):
    api.sign_up()

    statuses = {
        api.post("login", email="ann@example.com", password=PASSWORD).status for _ in range(105)
    }

    assert statuses == {200}


def test_refreshes_of_one_session_are_limited_to_sixty_a_minute(api, clock, configure):
    configure(REFRESH_TOKEN_ROTATION=False)
    token = api.sign_up()["refresh_token"]

    statuses = [api.post("refresh", refresh_token=token).status for _ in range(61)]

    assert statuses == [200] * 60 + [429]


def test_other_routes_are_limited_to_six_hundred_requests_a_minute(api, clock):
    statuses = {api.get("me").status for _ in range(600)}

    assert statuses == {401}
    assert api.get("me").error == RATE_LIMITED


def test_requests_are_accepted_while_the_cache_is_unavailable(sign_up, settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1",
        }
    }

    assert sign_up().status == 201


def test_rate_limit_counter_does_not_store_the_address(sign_up):
    sign_up("192.0.2.77")

    assert "192.0.2.77" not in str(cache._cache.keys())
