"""How Hypothesis generates examples. pytest loads it as a plugin."""

import os

import hypothesis

# Examples have no deadline, since a busy machine is no failure. The build runs the same examples each time.
hypothesis.settings.register_profile("gatehouse", deadline=None, print_blob=True, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("gatehouse")
