"""A browser that logs in with a provider: it follows redirects and keeps cookies."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authservice.oauth.provider import Profile
from tests.oauth.in_process import office
from tests.support.client import BASE, Answer, Api

ANN = "ann@example.com"
FRONT = "https://app.example.com/signed-in"
FORM = "application/x-www-form-urlencoded"


def profile(subject: str = "ann-at-acme", email: str = ANN, **more: Any) -> Profile:
    """A user of the provider, whose address is verified unless `more` says otherwise."""
    return Profile(subject=subject, email=email, **{"email_verified": True, **more})


class Browser:
    def __init__(self, api: Api) -> None:
        self.api = api
        self.cookies: dict[str, str] = {}

    def start(self, provider: str = "acme") -> str:
        """Starts a login; returns the address of the consent screen."""
        answer = self.get(f"oauth/{provider}")
        assert answer.status == 302, answer.body
        return answer.headers["Location"]

    def start_linking(self, token: str, provider: str = "acme", **body: Any) -> Answer:
        return self._kept(
            self.api.post(f"oauth/{provider}/link", token=token, headers=self._headers(), **body)
        )

    def sign_in(self, who: Profile | None = None, provider: str = "acme", **headers: str) -> Answer:
        """Logs in with the provider."""
        return self.come_back(office.approve(self.start(provider), who or profile()), **headers)

    def link(self, token: str, who: Profile | None = None, provider: str = "acme") -> Answer:
        """Links the provider to the user of the access token."""
        url = self.start_linking(token, provider).data["url"]
        return self.come_back(office.approve(url, who or profile()))

    def come_back(self, address: str, **headers: str) -> Answer:
        """Follows the redirect of the provider."""
        parts = urlsplit(address)
        return self.get(f"{parts.path.removeprefix(BASE)}?{parts.query}", **headers)

    def post_back(self, address: str) -> Answer:
        """The same with a form."""
        parts = urlsplit(address)
        path, sent = parts.path.removeprefix(BASE), self._headers()
        return self._kept(
            self.api.request("POST", path, parts.query, content_type=FORM, headers=sent)
        )

    def get(self, path: str, **headers: str) -> Answer:
        return self._kept(self.api.get(path, headers={**self._headers(), **headers}))

    def _headers(self) -> dict[str, str]:
        kept = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Cookie": kept} if kept else {}

    def _kept(self, answer: Answer) -> Answer:
        for name, cookie in answer.response.cookies.items():
            if cookie.value:
                self.cookies[name] = cookie.value
            else:
                self.cookies.pop(name, None)
        return answer


def fragment_of(answer: Answer) -> tuple[str, dict[str, str]]:
    """The target of a redirect: the URL, and the parameters of its fragment."""
    assert answer.status == 302, answer.response.content
    url = urlsplit(answer.headers["Location"])
    return url._replace(fragment="").geturl(), dict(parse_qsl(url.fragment))
