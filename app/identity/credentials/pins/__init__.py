"""PINs: a few digits beside the password, of what form they are, who must have one, and what a wrong one costs."""
