"""The routes of djangorestframework-simplejwt, for clients that were written for it."""
