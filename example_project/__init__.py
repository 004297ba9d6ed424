"""An ordinary Django project that uses authservice; every knob is an environment variable."""
