"""Pages for the links in e-mails, for projects without a front end."""
