"""The contract between the Spark application and labctl: what both read, write or agree on.

It holds the names of folders, columns, topics and properties, the application's command line, and
the rules by which bronze files and silver's marks are read. A project may replace the application
(`spark/lakehouse`), so labctl imports nothing of it but this package, which the application imports
too. The version also covers what labctl asks of the running application, `GET /status` and the
actions of `POST`, and the form of its dead letters. `docs/own-application.md` says how your own
application declares the version it needs.
"""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = 1
"""The contract's version. It changes with each change that an application must follow."""
