"""An OpenID provider as Django projects build one, with django-oauth-toolkit: its users log in and
approve on pages. A project of its own, for a process of its own."""
