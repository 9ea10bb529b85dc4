"""The texts of the files that are always available. Pure tables: `known` reads them."""
