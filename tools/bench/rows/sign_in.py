"""A sign-in with a password: page, POST, landing."""

from collections.abc import Iterator

from tools.bench.measure import Budget, Line, measure
from tools.bench.scene import Scene
from tools.bench.visitor import Visitor

BUDGET = Budget(bar=12, aim=6, counts={"api": 2, "sql": 8})


def measured(scene: Scene) -> Iterator[Line]:
    """The hash is left out: the product tells what it took, and that is taken off."""
    visitor = scene.visitor()

    def sign_in(number: int) -> Visitor:
        visitor.cookies.clear()
        scene.sign_in(visitor, number)
        return visitor

    spent = measure(scene.product, scene.bare, sign_in)
    yield spent.line("sign-in: page, POST, landing (hash left out)", BUDGET)
