"""django-rest-knox with the login view of its documentation."""
