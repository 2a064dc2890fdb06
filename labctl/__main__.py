"""`python -m labctl`: the command line."""

from labctl.cli import main

main()
