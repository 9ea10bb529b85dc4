"""What associations refuse: rows like those of `sigla.errors`, with Confluent's numbers and sentences."""

from sigla.errors import Incompatible, OperationNotPermitted, Referenced, Refusal


class AssociationNotFound(Refusal):
    code, text = 40410, "Association for '{resource}' not found."


class IncompatibleAssociation(Incompatible):
    text = "[{details}]"


class AssociationExists(Refusal):
    code, text = 40903, "An association of type '{type}' already exists for resource '{resource}'"


class SubjectAssociated(Refusal):
    code, text = 40904, "An association already exists for subject '{subject}'"


class SubjectOwned(Refusal):
    code, text = 40905, "A strong association already exists for subject '{subject}'"


class NoActiveVersion(Refusal):
    code, text = 40907, "No active (non-deleted) version exists for subject '{subject}'"


class LastAssociatedVersion(NoActiveVersion):
    text = (
        "The last active version of subject '{subject}' cannot be deleted: an association exists for the subject. "
        "Delete the association first"
    )


class AssociationFrozen(Refusal):
    # The two spaces are Confluent's own.
    code, text = 40908, "The association of type  '{type}' is frozen for subject '{subject}'"


class StrongReferenced(OperationNotPermitted):
    text = "Subject '{subject}' has a strong association and cannot be referenced"


class ReferencedByOthers(Referenced):
    text = "One or more references exist to the schema {subject}."


class InvalidAssociation(Refusal):
    code, text = 42212, "The association specified an invalid value for property: '{property}', detail: {detail}"
