"""The one client for requests that the service sends: to providers, for keys, to webhooks.

An address in the settings, in a discovery document or behind a DNS name may lead into the private
network or to the metadata service of a cloud (SSRF). So every request goes through `client`, which
checks each address and connects to the very address that it checked.
"""
