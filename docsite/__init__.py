"""Tools that make and check the documentation: reference pages, links, drawings, the site.

Nothing here is needed to run a lab, and nothing here is in the wheel.
"""
