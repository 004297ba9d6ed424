"""What proves who somebody is: passwords, one-time tokens, devices, limits on guessing."""
