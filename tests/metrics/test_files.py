"""The page, the dashboard and the alerts name instruments and labels that there are."""

import json
import re
from pathlib import Path

import yaml
from opentelemetry.metrics import Counter, Histogram
from prometheus_client import REGISTRY

from authservice.metrics import instruments

RUNNING = Path(__file__).parents[2] / "docs" / "running"
PAGE = (RUNNING / "metrics.rst").read_text()
ALERTS = yaml.safe_load((RUNNING / "metrics/alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((RUNNING / "metrics/dashboard.json").read_text())
EXPRESSIONS = [
    *(rule["expr"] for rule in ALERTS),
    *(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]),
]
# A metric with the labels that are compared.
SELECTOR = re.compile(r"(authservice_\w+)(?:\{(.*?)\})?")
MATCHER = re.compile(r'(\w+)(?:=|!=)"([^"]+)"')


def documented():
    """The unit and the description of each instrument in the table of the page."""
    row = r"   \* - ``(authservice\.[\w.]+)``\n     - ``(.+?)``\n     - (.*?)\n(?=   \* -|\n)"
    return {name: (unit, text) for name, unit, text in re.findall(row, PAGE, re.DOTALL)}


def moved():
    """Each instrument, by the name that Prometheus gives it."""
    for instrument in vars(instruments).values():
        if isinstance(instrument, Counter):
            instrument.add(0)
        elif isinstance(instrument, Histogram):
            instrument.record(0)
    return {
        sample.name
        for family in REGISTRY.collect()
        for sample in family.samples
        if sample.name.startswith("authservice_")
    }


def instrument_of(series):
    """`authservice_outbound_duration_seconds_count` is of `authservice.outbound.duration`."""
    plain = re.sub(r"(_seconds)?_(total|bucket|count|sum)$", "", series)
    return next(name for name in documented() if name.replace(".", "_") == plain)


def test_table_has_each_instrument_with_its_unit(reader):
    moved()
    data = reader.get_metrics_data()
    units = {
        metric.name: metric.unit
        for group in data.resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
    }

    assert {name: unit for name, (unit, _) in documented().items()} == units


def test_metrics_of_dashboard_and_alerts_exist(reader):
    named = {series for text in EXPRESSIONS for series, _ in SELECTOR.findall(text)}

    assert len(named) > 8
    assert named <= moved()


def test_labels_of_dashboard_and_alerts_are_those_of_the_instrument():
    for text in EXPRESSIONS:
        for series, matchers in SELECTOR.findall(text):
            _, about = documented()[instrument_of(series)]
            grouped = re.findall(r"by \((.*?)\)", text)
            labels = {label for group in grouped for label in group.split(", ")} - {"le"}
            named = {word for pair in MATCHER.findall(matchers) for word in pair}
            for word in labels | named:
                assert f"``{word}``" in about, (series, word)


def test_expressions_are_well_formed():
    for text in EXPRESSIONS:
        bare = re.sub(r'"[^"]*"', "", text)
        for opening, closing in ("()", "{}", "[]"):
            assert bare.count(opening) == bare.count(closing), text


def test_alert_of_missing_logins_counts_a_missing_series_as_zero():
    """After a restart there is no series until a login succeeds, and such a `sum` is empty."""
    [text] = [rule["expr"] for rule in ALERTS if rule["alert"] == "AuthserviceNobodyLogsIn"]
    now, _, yesterday = " ".join(text.split()).partition(" and ")

    rate = 'sum(rate(authservice_logins_total{outcome="success"}[15m]))'
    assert now == f"({rate} or vector(0)) == 0"
    assert "vector" not in yesterday


def test_page_says_what_to_do_for_each_of_six_alerts():
    names = [rule["alert"] for rule in ALERTS]

    assert len(names) == 6
    assert re.findall(r"\* - ``(Authservice\w+)``", PAGE) == names
    assert all(rule["annotations"]["summary"].endswith(".") for rule in ALERTS)
