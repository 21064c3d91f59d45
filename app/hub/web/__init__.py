"""The core of the hub beneath Flask: the one way of a request, from the WSGI environment to the response (decision 0366)."""
