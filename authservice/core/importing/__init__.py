"""Imports what core stores from other packages, and what all sources of an import share."""
