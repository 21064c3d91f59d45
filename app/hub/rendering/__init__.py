"""How pages and forms become HTML: base classes, the frame, the templates' environment, cached pages."""
