"""djoser with simplejwt, rotation and blacklist."""
