"""The commands `kbroker` and `kbroker-admin`."""
