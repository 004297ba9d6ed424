"""Vocabulary that core and modules share: no models, no app; REST only below `http`."""
