"""Exporters: what is registered here is written to another registry as well, for as long as an exporter runs.

An exporter says which subjects it takes, what they are called over there, and where that is. It follows the journal
and remembers how far it has come. Its credentials are kept apart (`ports.secrets`): no answer, log, row or record has
them.

    nouns      Exporter, ExporterProgress, Position, and what clients send
    rules      which subjects match, what they are called at the destination, which settings are secret
    checks     what clients send, judged
    refusals   the refusals that only exporters have
    records    exporters as JSON
    port       what the catalog knows of exporters; what may become of them is in `sigla.changes`
    verbs      what the API does
"""
