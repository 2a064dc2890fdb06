"""What labs keep on this machine: their folders, passwords and sockets."""
