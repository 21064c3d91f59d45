"""GET of the login page without a session."""

from collections.abc import Iterator

from tools.bench.measurement import Budget, MeasuredLine, measure
from tools.bench.scene import Scene
from tools.bench.visitor import BenchVisitor

BUDGET = Budget(bar=1.2, aim=0.5, counts={"api": 0, "sql": 0})


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """One kept connection, no cookies: every visit is a first one."""
    visitor = scene.visitor()

    def look(_: int) -> BenchVisitor:
        visitor.cookies.clear()
        visitor.get("/login").expect(200)
        return visitor

    yield measure(scene.product, scene.bare, look).line("GET of an anonymous login page", BUDGET)
