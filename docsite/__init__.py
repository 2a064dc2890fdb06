"""How the documentation is made and checked: reference pages, links, drawings, the site.

Nothing here is needed to run a lab, and nothing here is in the wheel.
"""
