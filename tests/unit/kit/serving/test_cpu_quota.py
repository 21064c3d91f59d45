"""How many CPUs a container grants, read from its control groups."""

import os
from pathlib import Path

import pytest

from app import settings
from app.kit.settings.cpu_quota import usable_cpus

ALL = float(len(os.sched_getaffinity(0)))


def granted(root: Path, membership: str, files: dict[str, str]) -> float:
    for name, text in files.items():
        path = root / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "membership").write_text(membership)
    return usable_cpus(root / "cgroup", root / "membership")


def test_quota_of_version_two_bounds_the_cpus(tmp_path: Path) -> None:
    assert granted(tmp_path, "0::/\n", {"cpu.max": "50000 100000\n"}) == 0.5


def test_quota_of_version_one_bounds_the_cpus(tmp_path: Path) -> None:
    files = {"cpu,cpuacct/pod/cpu.cfs_quota_us": "75000\n", "cpu,cpuacct/pod/cpu.cfs_period_us": "100000\n"}
    assert granted(tmp_path, "4:cpu,cpuacct:/pod\n3:memory:/pod\n", files) == 0.75


def test_smallest_quota_above_the_process_counts(tmp_path: Path) -> None:
    files = {"pod/one/cpu.max": "max 100000", "pod/cpu.max": "25000 100000", "cpu.max": "90000 100000"}
    assert granted(tmp_path, "0::/pod/one\n", files) == 0.25


def test_path_of_the_host_falls_back_to_the_mount(tmp_path: Path) -> None:
    """Without a namespace of its own a container reads the host's path, and sees its own group at the mount."""
    assert granted(tmp_path, "0::/kubepods/pod7/one\n", {"cpu.max": "10000 100000"}) == 0.1


@pytest.mark.parametrize("text", ["max 100000", "-1 100000", "nonsense", ""])
def test_no_readable_quota_leaves_the_affinity(tmp_path: Path, text: str) -> None:
    assert granted(tmp_path, "0::/\n", {"cpu.max": text}) == ALL


def test_path_that_climbs_stays_below_the_mount(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("10000 100000")
    assert granted(tmp_path, "0::/../..\n", {"other": ""}) == ALL


@pytest.mark.parametrize(("cpus", "hashes"), [(0.5, 1), (1.9, 1), (3.0, 3)])
def test_hashes_at_once_follow_the_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpus: float, hashes: int
) -> None:
    monkeypatch.setattr(settings, "usable_cpus", lambda: cpus)
    assert settings.read({}, tmp_path).hashes_at_once == hashes
    assert settings.read({"GATEHOUSE_HASHES_AT_ONCE": "7"}, tmp_path).hashes_at_once == 7
