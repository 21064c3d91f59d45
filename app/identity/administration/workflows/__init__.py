"""The rules of workflows as a resource, and the operations on their versions."""
