"""Login, refresh and logout with access tokens; has no tables of its own."""
