"""What attackers try, and what others shipped and had to mend: a rule each."""
