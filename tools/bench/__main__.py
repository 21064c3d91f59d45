"""Print the table: `python -m tools.bench [--full] [--scale] [ROW...]`. It never fails on a number."""

import argparse
import os
import sys
import time

from tools.bench.measurement import MeasuredLine
from tools.bench.rows import ORDER
from tools.bench.scene import Scene
from tools.bench.servers import DidNotStart
from tools.bench.table import printed
from tools.bench.visitor import Unexpected


def main() -> int:
    """Measure the rows asked for, or all."""
    requested = _arguments()
    options = frozenset(name for name in ("full", "scale") if getattr(requested, name))
    try:
        scene = Scene.open(options)
    except (DidNotStart, Unexpected) as error:
        print(f"There is nothing to measure: {error}", file=sys.stderr)
        return 1
    lines: list[MeasuredLine] = []
    unmeasured: list[str] = []
    try:
        for name, row in ORDER:
            if requested.rows and name not in requested.rows:
                continue
            began = time.monotonic()
            try:
                lines += row(scene)
            except (DidNotStart, Unexpected, OSError) as error:
                unmeasured.append(f"{name}: {error}")
            print(f"measured {name} in {time.monotonic() - began:.0f} s", file=sys.stderr)
    finally:
        scene.close()
    print(printed(lines))
    for problem in unmeasured:
        print(f"Not measured: {problem}", file=sys.stderr)
    return 1 if unmeasured else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.bench", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[[], *(name for name, _ in ORDER)], metavar="ROW")
    is_full = os.environ.get("BENCH_FULL") == "1"
    parser.add_argument("--full", action="store_true", default=is_full, help="10,000 sign-ins (or BENCH_FULL=1)")
    parser.add_argument(
        "--scale", action="store_true", default=is_full, help="10,000 tenants, 1,000,000 accounts and memberships"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
