"""A project's saved files, applied to the running lab: each to the least that needs it.

`places` says which files matter, `planning` what a change of them asks for, `checking` whether they
can be used, `applying` does it, and `watcher` goes round.
"""
