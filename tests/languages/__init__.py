"""The texts of the package, their catalogues, and the languages of responses."""
