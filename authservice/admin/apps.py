"""Data sheet of the admin module; it keeps nothing of its own."""

from authservice.kernel import modules


class AdminConfig(modules.ModuleConfig):
    name = "authservice.admin"
    label = "authservice_admin"
    verbose_name = "User administration"
    urls = "authservice.admin.urls"
