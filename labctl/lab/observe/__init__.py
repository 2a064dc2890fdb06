"""What works in a lab, and what does not."""
