"""A sign-in with a password: page, POST, landing; and with a second factor between them."""

from collections.abc import Iterator

from tools.bench.measurement import Budget, MeasuredLine, Operation, measure
from tools.bench.scene import TWO_STEP_TENANT, Scene
from tools.bench.visitor import BenchVisitor

BUDGET = Budget(bar=9, aim=4, counts={"api": 2, "sql": 5, "commits": 1})
TWO_STEPS = Budget(bar=24, aim=12, counts={"api": 4, "sql": 15, "commits": 3})
PEOPLE = 5
"""How many of the accounts take turns: each enrols once before."""


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """The hashes are left out: the product reports their time, which is subtracted."""
    spent = measure(scene.product, scene.bare, with_password(scene))
    yield spent.line("sign-in: page, POST, landing (hash left out)", BUDGET)
    spent = measure(scene.product, scene.bare, in_two_steps(scene))
    yield spent.line("sign-in in two steps: page, POST, page, POST, landing", TWO_STEPS)


def with_password(scene: Scene) -> Operation:
    visitor = scene.visitor()

    def sign_in(number: int) -> BenchVisitor:
        visitor.cookies.clear()
        scene.sign_in(visitor, number)
        return visitor

    return sign_in


def in_two_steps(scene: Scene) -> Operation:
    """The first sign-in of an account enrolls its second factor; each later one verifies it."""
    visitor = scene.visitor(TWO_STEP_TENANT)

    def sign_in(number: int) -> BenchVisitor:
        visitor.cookies.clear()
        scene.sign_in(visitor, number % PEOPLE, has_two_steps=True)
        return visitor

    return sign_in
