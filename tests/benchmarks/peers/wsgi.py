"""WSGI entry point of the Django peers, with the same start-up as the example project."""

from django.core.wsgi import get_wsgi_application

from example_project.start_up import load_routes

application = get_wsgi_application()
load_routes()
