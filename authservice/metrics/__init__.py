"""Metrics of logins, messages and calls by OpenTelemetry."""
