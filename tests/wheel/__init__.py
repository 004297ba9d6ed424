"""The wheel, installed without the source tree, in new projects with and without users."""
