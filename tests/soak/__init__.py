"""Hours of mixed traffic: nothing grows but what users made."""
