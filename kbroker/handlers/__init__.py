"""One file per API, its version ledger on top; `api_table.py` lists them."""
