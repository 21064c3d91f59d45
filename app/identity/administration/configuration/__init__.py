"""Configuration as code: a file becomes a plan, the plan one transaction."""
