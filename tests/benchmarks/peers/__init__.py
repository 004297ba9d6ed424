"""Small projects with other packages, each under the conditions of ``terms.py``."""
