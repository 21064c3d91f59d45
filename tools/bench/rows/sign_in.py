"""A sign-in with a password: page, POST, landing."""

from collections.abc import Iterator

from tools.bench.measure import Budget, Line, measure
from tools.bench.rows.password_hash import verify_ms
from tools.bench.scene import CHEAP_HASH, Scene
from tools.bench.visitor import Visitor

BUDGET = Budget(bar=12, aim=6, counts={"api": 2, "sql": 8})


def measured(scene: Scene) -> Iterator[Line]:
    """The hash is left out: it is measured here at its cheapest, and taken off."""
    visitor = scene.visitor()

    def sign_in(number: int) -> Visitor:
        visitor.cookies.clear()
        scene.sign_in(visitor, number)
        return visitor

    spent = measure(scene.product, scene.bare, sign_in)
    hashing_ms = spent.counts.get("hashes", 1.0) * verify_ms(CHEAP_HASH)
    yield spent.less(hashing_ms).line("sign-in: page, POST, landing (hash left out)", BUDGET)
