"""The wheel, installed alone, in fresh projects that already have users."""
