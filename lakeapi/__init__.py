"""An analytics service that queries the lake through Athena and caches the answers.

Nothing here imports `labctl`.
"""
