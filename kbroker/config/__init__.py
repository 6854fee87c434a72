"""Every setting: name, type, default, limits, scope, and which value counts."""
