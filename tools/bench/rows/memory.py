"""Memory of the process after many sign-ins, at the shipped hash."""

from collections.abc import Iterator

from tools.bench.measurement import MeasuredLine
from tools.bench.scene import TENANT, Scene

BAR_MB, AIM_MB = 140, 100
QUICK, FULL = 1_000, 10_000


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """A tenth on the way, the whole at the end: memory that is flat shows in the difference."""
    sign_ins = FULL if "full" in scene.options else QUICK
    visitor = scene.visitor(f"{TENANT}-hash")
    first_mb = 0.0
    for number in range(sign_ins):
        if number == sign_ins // 10:
            first_mb = scene.product.memory_mb()
        visitor.cookies.clear()
        scene.sign_in(visitor, number)
    final_mb = scene.product.memory_mb()
    yield MeasuredLine(
        operation=f"memory after {sign_ins:,} sign-ins",
        counts=f"{first_mb:.0f} MB after {sign_ins // 10:,}",
        measured=f"{final_mb:.0f} MB",
        bar=f"{BAR_MB} MB",
        aim=f"{AIM_MB} MB",
        is_over=final_mb > BAR_MB,
        is_reached=final_mb <= AIM_MB,
    )
