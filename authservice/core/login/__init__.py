"""Signing up and logging in: the one door, through which every login passes."""
