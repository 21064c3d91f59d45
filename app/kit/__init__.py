"""General code without a word of our domain; imports nothing of ours."""
