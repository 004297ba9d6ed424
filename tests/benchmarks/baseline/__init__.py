"""The alternative that projects build: dj-rest-auth on simplejwt with rotation and a blacklist."""
