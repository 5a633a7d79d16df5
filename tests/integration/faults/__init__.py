"""Every store that has a server, with the way to it and the server itself failing."""
