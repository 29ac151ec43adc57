"""Graphs whose buffers are memory that lives on: built in Python, written to a file, run anywhere."""
