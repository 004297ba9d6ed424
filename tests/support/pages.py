"""The server-rendered pages of the API: what each of them must be."""

import re


def is_page(answer):
    return answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")


def assert_protected(headers):
    """The page is not cached, not framed, runs no script but one by its digest, and sends no token
    as a referrer."""
    assert headers["Cache-Control"] == "no-store, private"
    assert headers["Referrer-Policy"] == "strict-origin"
    assert headers["X-Robots-Tag"] == "noindex"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self' https://app.example.com;" in policy
    assert "script" not in re.sub(r" script-src 'sha256-[\w+/=]{44}';", "", policy)
    assert "unsafe" not in policy
