"""Promotion of a lab to AWS: plan, check, compare and apply.

`load_promotion` reads the project, `plan.render` renders the plan's files without touching
anything, `rules.check` finds what AWS would refuse, and `apply` carries out a plan.
"""

from labctl.promote.promotion import Promotion, load_promotion

__all__ = ["Promotion", "load_promotion"]
