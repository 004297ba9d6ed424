"""People, sign-ins and secrets: what every other module stands on."""
