"""The command `maxg`."""
