"""The settings of the benchmark with three providers, one of which never answers."""

import os

from tests.benchmarks.settings import *  # noqa: F403
from tests.benchmarks.settings import AUTHSERVICE as BENCHMARK

_CLIENT = {"CLIENT_ID": "our-client", "CLIENT_SECRET": "our-secret"}
AUTHSERVICE = {
    **BENCHMARK,
    "OAUTH": {
        "PROVIDERS": {
            "github": _CLIENT,
            "spotify": {**_CLIENT, "BACKEND": "social_core.backends.spotify.SpotifyOAuth2"},
            "hanging": {**_CLIENT, "ISSUER": os.environ["BENCHMARK_ISSUER"]},
        }
    },
    "OUTBOUND": {"PRIVATE_HOSTS": ["127.0.0.1"], "INSECURE_HOSTS": ["127.0.0.1"]},
}
