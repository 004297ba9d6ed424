"""A host with the module, and what its instruments count."""

from collections import Counter

import pytest
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import set_meter_provider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from tests.support.flows import CommittingApi


@pytest.fixture(scope="session")
def reader():
    """A process has one meter provider for all of its time."""
    return reading(PrometheusMetricReader())


def reading(*others):
    found = InMemoryMetricReader()
    set_meter_provider(MeterProvider(metric_readers=[found, *others]))
    return found


def values(reader):
    """The number of events by the name of the instrument and its labels."""
    found = Counter()
    for name, point in points(reader):
        found[name, tuple(sorted(point.attributes.items()))] = (
            getattr(point, "count", 0) or point.value
        )
    return found


def points(reader):
    """The name of the instrument and the point, of each series."""
    data = reader.get_metrics_data()
    for group in data.resource_metrics if data else ():
        for scope in group.scope_metrics:
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    yield metric.name, point


@pytest.fixture
def installed(settings):
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "authservice.metrics"]


@pytest.fixture
def counted(installed, reader):
    """`counted("logins")` lists what was counted since the test began: labels and number."""
    before = values(reader)

    def since(name):
        moved = values(reader) - before
        return [
            {**dict(labels), "number": number}
            for (instrument, labels), number in sorted(moved.items())
            if instrument == f"authservice.{name}"
        ]

    return since


@pytest.fixture
def api():
    return CommittingApi()
