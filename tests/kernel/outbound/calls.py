"""Calls and answers of the tests of the client."""

import time

from authservice.kernel.outbound import http_client


def get(url, service="test", **options):
    return http_client.get(url, service=service, **options)


def within(seconds):
    """Asserts that the block takes no longer."""

    class Watch:
        def __enter__(self):
            self.start = time.monotonic()

        def __exit__(self, *_):
            assert time.monotonic() - self.start < seconds

    return Watch()


def response(body, headers=b"", status=b"200 OK"):
    return b"HTTP/1.1 " + status + b"\r\n" + headers + b"\r\n" + body
