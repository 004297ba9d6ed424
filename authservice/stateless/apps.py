"""App configuration of the stateless module."""

from authservice.kernel import modules


class StatelessConfig(modules.ModuleConfig):
    name = "authservice.stateless"
    label = "authservice_stateless"
    verbose_name = "Stateless login"
    urls = "authservice.stateless.urls"
