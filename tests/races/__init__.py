"""What may happen once happens once, however many ask at the same instant."""
