"""Entry point for `spark-submit spark/silver.py …`; the application is the package beside it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from lakehouse.spark_process import main

if __name__ == "__main__":
    sys.exit(main())
