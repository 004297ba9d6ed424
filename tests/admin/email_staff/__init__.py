"""A host whose users, staff included, have an e-mail address and no username or names."""
