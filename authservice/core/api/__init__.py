"""HTTP: views, serializers, responses, redirects and cookies."""
