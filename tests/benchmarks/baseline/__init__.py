"""The project others would build: dj-rest-auth on simplejwt with rotation and a blacklist."""
