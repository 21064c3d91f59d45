"""The request core of the hub: from the WSGI environment to the response, in place of Flask's request context (decision 0366)."""
