"""A hasher that takes milliseconds, so that a hash more or less stands out of the noise."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class Slow(PBKDF2PasswordHasher):
    iterations = 10_000
