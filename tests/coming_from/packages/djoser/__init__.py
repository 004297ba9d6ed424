"""Stands in for the package djoser, which has no tables and whose code no import reads."""
