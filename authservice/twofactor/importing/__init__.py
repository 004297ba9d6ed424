"""Import authenticator apps and backup codes from other packages, one file for each package."""
