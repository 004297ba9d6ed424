"""Attacks, and mistakes that other packages had to fix: a rule for each."""
