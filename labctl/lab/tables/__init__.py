"""The tables of a lab on their way from source to silver."""
