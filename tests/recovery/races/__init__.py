"""What a one-time secret and a limit promise holds however many ask at the same instant."""
