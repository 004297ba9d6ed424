"""Drawings of flows for the docs, made from text."""
