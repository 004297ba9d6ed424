#!/usr/bin/env python
"""Django's command line for the example project."""

import os
import sys
from pathlib import Path


def main() -> None:
    # For a script, Python searches modules in the script's folder, which does not contain the
    # package `example_project` itself.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")

    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
