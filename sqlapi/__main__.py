"""`python -m sqlapi`: the endpoint over a bucket of Hudi tables or Parquet, without a lab.

Secrets come by the environment: SQLAPI_DSN, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which
are the keys of the bucket and those that requests must be signed with.
"""

from __future__ import annotations

import argparse
import logging
import os
from urllib.parse import urlsplit

from pyarrow import fs

from sqlapi.server import serve
from sqlapi.settings import Settings
from sqlapi.sources.bucket import BucketSource
from sqlapi.storage import LocationError, OwnFolder, Storage

_NEEDED = ("SQLAPI_DSN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m sqlapi", description=__doc__)
    parser.add_argument("--tables", required=True, help="s3://bucket/folder of <database>/<table>")
    parser.add_argument("--output", required=True, help="s3://bucket/folder/ for results")
    parser.add_argument("--port", type=int, default=8085, help="on 127.0.0.1; 8085 by default")
    parser.add_argument("--endpoint-url", help="of the object store, when it is not S3")
    parser.add_argument("--region", default="us-east-1")
    given = parser.parse_args()
    if missing := [name for name in _NEEDED if not os.environ.get(name)]:
        parser.error(f"set {', '.join(missing)} in the environment")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    address = urlsplit(given.endpoint_url) if given.endpoint_url else None
    storage = Storage(
        fs.S3FileSystem(
            access_key=key,
            secret_key=secret,
            region=given.region,
            endpoint_override=address.netloc if address else None,
            scheme=address.scheme if address else "https",
        ),
        (OwnFolder(given.tables, "the lake's tables", tables=True),),
    )
    try:
        storage.check(given.output)
    except LocationError as error:
        parser.error(f"--output: {error}")
    options = {
        "aws_access_key_id": key, "aws_secret_access_key": secret, "aws_region": given.region,
    }  # fmt: skip
    if given.endpoint_url:
        options |= {"aws_endpoint": given.endpoint_url}
        options |= {"aws_allow_http": str(given.endpoint_url.startswith("http:")).lower()}
    settings = Settings(
        dsn=os.environ["SQLAPI_DSN"], keys={key: secret}, output=given.output, region=given.region
    )
    serve(settings, BucketSource(storage, given.tables, options), storage, port=given.port)


if __name__ == "__main__":
    main()
