"""The border: operations, requests, responses and errors, nothing else."""
