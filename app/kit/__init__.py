"""General code: knows no concept of the domain, and imports nothing else of the application."""
