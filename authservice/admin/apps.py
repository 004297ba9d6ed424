"""Django app of the admin module; it has no tables."""

from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class AdminConfig(modules.ModuleConfig):
    name = "authservice.admin"
    label = "authservice_admin"
    verbose_name = admin_text("User administration")
    views = "authservice.admin.views"
