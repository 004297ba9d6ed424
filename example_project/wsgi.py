"""`gunicorn --worker-class gthread --threads 8 --limit-request-line 8190 example_project.wsgi`"""

import os

from django.core.wsgi import get_wsgi_application

from example_project.start_up import load_routes, share_arenas

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")

share_arenas()
application = get_wsgi_application()
load_routes()
