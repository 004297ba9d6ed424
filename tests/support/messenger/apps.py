"""A module that takes jobs and keeps them, until a test plays the worker."""

from authservice.kernel import modules


class PostOffice(modules.ModuleConfig):
    name = "tests.recovery"
    label = "post_office"
    messenger = "tests.recovery.post.office"
