from tests.oauth.providers.conftest import (  # noqa: F401 the fixtures of providers
    named,
    openid_provider,
    provider,
    provider_settings,
    standin,
)
