"""The module of the messenger that keeps jobs."""

from authservice.kernel import modules


class PostOffice(modules.ModuleConfig):
    name = "tests.support.messenger"
    label = "post_office"
    messenger = "tests.support.messenger.post.messenger"
