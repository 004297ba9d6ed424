"""Links in mails and other addresses of the service and its front end, built from settings only:
the Host header of a request may be forged."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import get_script_prefix, reverse

from authservice.kernel.secret import Secret
from authservice.kernel.sections import frontend, mount, root


def verify_email(token: Secret, email: str) -> Secret:
    """A link to the service itself, which redirects the browser to the front end."""
    return to_route("verify-email", token, email=email)


def reset_password(token: Secret, email: str) -> Secret:
    return _with_token(_front(frontend.reset_password_path), token, email=email)


def to_front(path: str, token: Secret) -> Secret:
    """A link to a page of the front end."""
    return _with_token(_front(path), token)


def verified(status: str) -> str:
    """The URL to which `GET /verify-email` redirects a browser, or "" to answer in JSON."""
    if not frontend.url or not frontend.verify_email_callback_path:
        return ""
    return _with(_joined(frontend.url, frontend.verify_email_callback_path), status=status)


def to_route(name: str, token: Secret, **query: str) -> Secret:
    """A link to a route of the service itself, by its name in the URLconf."""
    return _with_token(route(name), token, **query)


def route(name: str, **parameters: str) -> str:
    """The public URL of a route of the service itself, by its name in the URLconf."""
    return _absolute(reverse(f"authservice:{name}", kwargs=parameters))


def _absolute(path: str) -> str:
    # API_URL has the script prefix already, so the path is taken without it.
    return _joined(root.api_url, path.removeprefix(get_script_prefix()))


def _front(path: str) -> str:
    """A URL in the front end or, without one, below the mount of the service."""
    if frontend.url:
        return _joined(frontend.url, path)
    return _joined(_absolute(mount()), path)


def _joined(origin: str, path: str) -> str:
    return f"{origin.rstrip('/')}/{path.lstrip('/')}"


def _with_token(url: str, token: Secret, **query: str) -> Secret:
    return Secret(_with(url, token=token.reveal(), **query))


def _with(url: str, **query: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"
