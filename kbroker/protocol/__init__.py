"""Bytes <-> objects: messages, frames, headers, record batches."""
