"""Django app of the admin module; it has no tables."""

from authservice.kernel import modules


class AdminConfig(modules.ModuleConfig):
    name = "authservice.admin"
    label = "authservice_admin"
    verbose_name = "User administration"
    urls = "authservice.admin.urls"
