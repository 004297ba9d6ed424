"""The OpenAPI description of the API, and two pages that display it."""
