"""Authorization responses: their parameters, tokens, signed form, and errors without a redirect."""
