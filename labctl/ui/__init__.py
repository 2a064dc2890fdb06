"""The lab's page: what the command line knows, live, in a browser of this machine.

A module per page, each over the same functions as the command of its name. `access` decides who may
ask, `pipeline_feed` follows the lab while somebody looks on, `rendering` makes HTML.
"""
