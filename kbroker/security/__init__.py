"""Who somebody is, and what he may do: decisions without I/O."""
