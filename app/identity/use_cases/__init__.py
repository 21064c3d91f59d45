"""Rules that need several packages, and that the pages and the programs share: each stands here once, below both APIs."""
