"""Sockets, files, processes; frames to handlers."""
