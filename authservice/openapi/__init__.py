"""The API described in OpenAPI, and two pages that show it."""
