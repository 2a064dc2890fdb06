"""A lab's files on AWS: planned, checked, compared, applied.

`load_promotion` reads the project, `plan.render` makes files of it without touching anything,
`rules.check` says what AWS would refuse, `apply` carries a plan out.
"""

from labctl.promote.promotion import Promotion, load_promotion

__all__ = ["Promotion", "load_promotion"]
