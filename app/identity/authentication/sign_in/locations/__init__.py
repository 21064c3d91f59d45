"""Where in the world an address is: asked of nobody, looked up in the operator's own file, or not known at all."""
