"""`uvicorn example_project.asgi:application`"""

import os

from django.core.asgi import get_asgi_application

from example_project.start_up import load_routes, share_arenas

# Under ASGI a thread ends with its request, so a persistent connection would be lost, not reused.
os.environ.setdefault("CONN_MAX_AGE", "0")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")

share_arenas()
application = get_asgi_application()
load_routes()
