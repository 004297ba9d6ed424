"""Import links from other packages: the sources of `authservice_import`."""
