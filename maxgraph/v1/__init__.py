"""Generated from proto/maxgraph/v1: the messages of a .maxg header."""
