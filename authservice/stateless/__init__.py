"""Login, refresh and logout with access tokens; needs no tables of its own."""
