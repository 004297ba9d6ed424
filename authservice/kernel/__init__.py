"""Code that core and the modules share: no models, no Django app. REST framework only in `http`."""
