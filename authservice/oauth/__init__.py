"""Social login and single sign-on with external providers (OAuth 2.0 and OpenID Connect)."""
