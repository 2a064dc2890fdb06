"""An analytics service over the lake by Athena, with a cache before it.

Nothing here imports `labctl`.
"""
