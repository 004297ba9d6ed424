import pytest

from tests.notification.servers import Gateway


@pytest.fixture
def gateway():
    """Another service that a recipe calls."""
    with Gateway() as gateway:
        yield gateway
