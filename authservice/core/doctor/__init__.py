"""What `authservice_doctor` examines of core, and the report of one run."""
