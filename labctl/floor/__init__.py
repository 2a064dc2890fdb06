"""What a change would take at least: the lab's figures beside those of the parts it is made of."""
