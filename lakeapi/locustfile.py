"""A Locust load test of the lake API. Locust is no dependency: `pip install locust`, then

locust -f lakeapi/locustfile.py --host http://127.0.0.1:8088

opens its page on port 8089; `--headless -u 25 -r 25 -t 30s` prints the figures instead. The users
read pages of the lists and single rows. They call all 17 endpoints, without pauses.
"""

from __future__ import annotations

import random
from typing import Any

from locust import HttpUser, constant, task

__all__ = ["Reader"]

LISTS = ("categories", "dates", "events", "listings", "sales", "users", "venues")
PAGES = 4
"""Pages that are read of each list."""


class Reader(HttpUser):
    """A user who reads lists and single rows."""

    wait_time = constant(0)

    def on_start(self) -> None:
        """Read the first page of each list, for keys that exist."""
        pages = {name: self._json(f"/v1/{name}") for name in LISTS}
        self.keys = {name: [row["id"] for row in page] for name, page in pages.items()}
        self.sellers = [row["sellerId"] for row in pages["sales"]]

    @task(7)
    def page(self) -> None:
        """Read a page of a list."""
        name = random.choice(LISTS)  # noqa: S311 - a load, no secret
        offset = 25 * random.randrange(PAGES)  # noqa: S311
        self.client.get(f"/v1/{name}", params={"offset": offset}, name=f"/v1/{name}")

    @task(7)
    def one(self) -> None:
        """Read a row by its key."""
        name = random.choice([name for name in LISTS if self.keys[name]])  # noqa: S311
        key = random.choice(self.keys[name])  # noqa: S311
        self.client.get(f"/v1/{name}/{key}", name=f"/v1/{name}/{{id}}")

    @task
    def by_category(self) -> None:
        """Read the sales by category, from the view."""
        self.client.get("/v1/salesbycategory")

    @task
    def by_seller(self) -> None:
        """Read a seller's sales, by the prepared statement."""
        seller = random.choice(self.sellers)  # noqa: S311
        self.client.get(f"/v1/salesbyseller/{seller}", name="/v1/salesbyseller/{id}")

    @task
    def likes(self) -> None:
        """Read the buyers' likes, by the named query."""
        self.client.get("/v1/buyerlikes")

    def _json(self, path: str) -> Any:
        return self.client.get(path).json()
