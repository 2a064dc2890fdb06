"""The floor: the lab's figures beside those of the parts that it is made of."""
