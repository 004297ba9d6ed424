"""The providers: one file each, with its endpoints, default scopes and rules."""
