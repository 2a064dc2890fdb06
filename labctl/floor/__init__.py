"""The floor: the lab's figures compared with those of its parts on their own."""
