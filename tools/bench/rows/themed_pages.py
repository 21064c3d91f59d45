"""Pages of a theme with layouts, a page, texts and a style sheet of its own, beside ours: bytes, and CPU in turns on one server."""

from collections.abc import Iterator

from tools.bench.measurement import MeasuredLine, Operation, beside
from tools.bench.rows.page_bytes import FIRST_FLIGHT_BYTES, weigh
from tools.bench.scene import TENANT, THEMED, Scene
from tools.bench.visitor import BenchVisitor

MAX_REQUESTS = 4
"""The theme's style sheet is one more."""
BAR, AIM = 1.2, 1.1
THEME = f"{TENANT}-bank"
ANONYMOUS = ("/login", "/register", "/forgot-password", "/error", "/no-such-page")
SIGNED_IN = ("/profile", "/profile/edit", "/change-password", "/security")


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """Bytes of a first visit of each example theme, then the CPU of pages of one."""
    for name in THEMED:
        yield _bytes(scene, f"{TENANT}-{name}", "/login")
    for path in SIGNED_IN:
        yield _cpu(scene, path, _signed_in(scene, THEME), _signed_in(scene, TENANT))
    for path in ANONYMOUS:
        yield _cpu(scene, path, scene.visitor(THEME), scene.visitor())


def _bytes(scene: Scene, tenant: str, path: str) -> MeasuredLine:
    (size_bytes, requests), (ours, _) = weigh(scene.visitor(tenant), path), weigh(scene.visitor(), path)
    is_within = size_bytes <= FIRST_FLIGHT_BYTES and requests <= MAX_REQUESTS
    return MeasuredLine(
        operation=f"page {path} of the theme {tenant.removeprefix(f'{TENANT}-')}, first visit, gzip",
        counts=f"{requests} requests  (≤ {MAX_REQUESTS}); {ours:,} bytes without a theme",
        measured=f"{size_bytes:,} bytes",
        bar=f"{FIRST_FLIGHT_BYTES:,} bytes",
        is_over=not is_within,
        is_reached=is_within,
    )


def _cpu(scene: Scene, path: str, themed: BenchVisitor, ours: BenchVisitor) -> MeasuredLine:
    counts = [_counts(visitor, path) for visitor in (themed, ours)]
    spent_ms, ours_ms = beside(scene.product, _look(themed, path), scene.product, _look(ours, path))
    ratio, is_same = spent_ms / ours_ms, counts[0] == counts[1]
    return MeasuredLine(
        operation=f"GET of {path} with a theme",
        counts=f"{counts[0]}  (as without a theme); {ours_ms:.2f} ms without",
        measured=f"{spent_ms:.2f} ms = {ratio:.2f} × ours",
        bar=f"{BAR:g} ×",
        aim=f"{AIM:g} ×",
        is_over=ratio > BAR or not is_same,
        is_reached=ratio <= AIM and is_same,
    )


def _counts(visitor: BenchVisitor, path: str) -> str:
    """Return the calls and statements of a second visit."""
    visitor.get(path)
    visitor.costs.clear()
    visitor.get(path)
    found = ", ".join(f"{name} {visitor.costs.get(name, 0)}" for name in ("api", "sql"))
    visitor.costs.clear()
    return found


def _signed_in(scene: Scene, tenant: str) -> BenchVisitor:
    visitor = scene.visitor(tenant)
    scene.sign_in(visitor, 0)
    return visitor


def _look(visitor: BenchVisitor, path: str) -> Operation:
    def look(_: int) -> BenchVisitor:
        visitor.get(path).expect(200, 400, 404)
        return visitor

    return look
