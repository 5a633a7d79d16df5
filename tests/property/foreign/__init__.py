"""Texts from elsewhere: only the documented errors come out of them, after bounded work."""
