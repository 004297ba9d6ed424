"""Mail and text messages: jobs become letters in the background and leave by the host's roads."""
