"""What users do with their own account, with a proof that its owner acts."""
