"""The named providers, with their endpoints, default scopes and rules."""
