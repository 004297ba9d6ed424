"""An app of the name of djoser, which has no tables and whose code no import reads."""
