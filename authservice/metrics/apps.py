"""Django app of the metrics module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class MetricsConfig(modules.ModuleConfig):
    name = "authservice.metrics"
    label = "authservice_metrics"
    verbose_name = admin_text("Metrics")
    event_listener: str | None = "authservice.metrics.instruments.counting"

    def ready(self) -> None:
        from authservice.metrics import checks

        checks.connect()
        if not checks.is_package_installed():
            self.event_listener = None
            return
        from authservice.metrics import instruments

        instruments.connect()
