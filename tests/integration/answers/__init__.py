"""Answers of `why` and `statement`, judged by what a test itself did and saw."""
