"""Plum, a small shop whose accounts are authservice, with a drawer for developers."""
