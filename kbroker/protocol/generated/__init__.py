"""Written by tools/generate_codecs.py from the schemas beside this package; do not edit."""
