"""An interaction between two requests: what it keeps, its next step, and how a passed first factor completes it."""
