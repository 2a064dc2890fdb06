"""Applying a project's saved files to the running lab, with as few restarts as possible.

`places` finds the files that matter, `planning` decides the steps for their changes, `checking`
checks that they can be used, `applying` carries the steps out, and `watcher` runs the loop.
"""
