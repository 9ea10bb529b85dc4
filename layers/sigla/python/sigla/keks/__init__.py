"""Keys for the encryption of fields and messages: those of a key service (KEKs), and data keys under them (DEKs).

A KEK names a key of an outside key service (KMS) and holds no secret. A DEK is a data key, wrapped by the KMS key of
its KEK. Ordinarily clients wrap and unwrap, and the registry keeps opaque text; under a shared KEK the registry calls
the KMS itself.

    nouns      Kek, Dek, Algorithm, and what clients send
    rules      names, which key may replace which, what a rule set is completed with
    refusals   the refusals that only keys have
    records    keys as JSON, and as records of `_dek_registry_keys`
    port       what the catalog knows of keys; what may become of them is in `sigla.changes`
    material   where the material of a DEK comes from
    verbs      what the API does, a file for each group
"""
