"""`uvicorn example_project.asgi:application`"""

import os

from django.core.asgi import get_asgi_application

from example_project.start_up import load_routes, share_arenas

# Under ASGI a request's thread ends with it: a connection kept open would be lost, not used again.
os.environ.setdefault("CONN_MAX_AGE", "0")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")

share_arenas()
application = get_asgi_application()
load_routes()
