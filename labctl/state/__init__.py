"""The state of labs on this machine: their folders, passwords and sockets."""
