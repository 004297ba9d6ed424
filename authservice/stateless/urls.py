"""Paths of the stateless module, below the mount."""

from authservice.core.api.login_views import login_paths

urlpatterns = login_paths()
