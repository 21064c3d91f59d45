"""The number of CPUs this process may use, by CPU affinity and control groups (a container's limit)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")


def usable_cpus(mount: Path = _MOUNT, membership: Path = _MEMBERSHIP) -> float:
    """Return the CPUs that this process may keep busy, for example 0.5 or 2.0.

    The least of the CPU affinity and of every quota from the process's own control group up to the root: `cpu.max` (cgroup
    v2) or `cpu.cfs_quota_us` (v1). An unreadable quota is ignored.

    Args:
        mount: where the control groups are mounted.
        membership: the file that names the process's groups, as cgroups(7) describes it.
    """
    return min([float(len(os.sched_getaffinity(0))), *_quotas(mount, membership)])


def _quotas(mount: Path, membership: Path) -> Iterator[float]:
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        lines = []
    for line in lines or ["0::/"]:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            yield from _along(mount, path, _quota_v2)
        elif "cpu" in controllers.split(","):
            for base in {mount / controllers, mount / "cpu"}:
                yield from _along(base, path, _quota_v1)


def _along(base: Path, path: str, read: Callable[[Path], float]) -> Iterator[float]:
    """Yield the quotas of a group and its ancestors; inside a container the path may not be mounted."""
    group = base if ".." in path.split("/") else base / path.strip("/")
    for folder in (group, *group.parents):
        if folder != base and base not in folder.parents:
            return
        try:
            yield read(folder)
        except (OSError, ValueError):
            continue


def _quota_v2(folder: Path) -> float:
    """`cpu.max` is "QUOTA PERIOD" in microseconds, or "max PERIOD" for none."""
    quota, period = (folder / "cpu.max").read_text().split()
    return _ratio(quota, period)


def _quota_v1(folder: Path) -> float:
    """`cpu.cfs_quota_us` is -1 without a quota."""
    return _ratio((folder / "cpu.cfs_quota_us").read_text(), (folder / "cpu.cfs_period_us").read_text())


def _ratio(quota: str, period: str) -> float:
    """Return the CPUs; raises ValueError without a quota."""
    granted, of = int(quota), int(period)
    if granted <= 0 or of <= 0:
        raise ValueError("no quota")
    return granted / of
