"""WSGI entry point of the baseline, which starts as the example project does."""

from django.core.wsgi import get_wsgi_application

from example_project.start_up import load_routes

application = get_wsgi_application()
load_routes()
