"""The verbs: what the registry does, a file each. `Registry` is all of them over one set of stores."""

from sigla.registry import check as _check
from sigla.registry import contexts as _contexts
from sigla.registry import delete as _delete
from sigla.registry import differences as _differences
from sigla.registry import guids as _guids
from sigla.registry import histories as _histories
from sigla.registry import id_holders as _id_holders
from sigla.registry import listing as _listing
from sigla.registry import lookup as _lookup
from sigla.registry import regions as _regions
from sigla.registry import register as _register
from sigla.registry import settings as _settings
from sigla.registry import tags as _tags
from sigla.registry import usages as _usages
from sigla.registry import zones as _zones
from sigla.registry.resources import Options, Resources, View


class Registry(Resources):
    """Every verb as a method; each is a function of its own module, whose docstring is its promise."""

    register = _register.register
    check = _check.check
    compare_versions = _differences.compare_versions
    tag = _tags.tag

    meaning = _lookup.meaning
    meaning_in = _lookup.meaning_in
    schema_by_id = _lookup.schema_by_id
    holders_of = _id_holders.holders_of
    subjects_of = _id_holders.subjects_of
    schema_by_guid = _guids.schema_by_guid
    ids_of = _guids.ids_of
    known_contents = _guids.known_contents
    lookup = _lookup.lookup
    version = _lookup.version
    find_by_metadata = _lookup.find_by_metadata

    schemas = _listing.schemas
    subjects = _listing.subjects
    found_subjects = _listing.found_subjects
    found_names = _listing.found_names
    search = _listing.search
    versions = _listing.versions
    referenced_by = _listing.referenced_by

    subject_history = _histories.subject_history
    usage = _usages.usage
    names_of = _histories.names_of
    names_among = _histories.names_among
    own_name = _histories.own_name
    recent_changes = _histories.recent_changes

    delete_version = _delete.delete_version
    delete_subject = _delete.delete_subject

    config = _settings.config
    change_config = _settings.change_config
    drop_config = _settings.drop_config
    mode = _settings.mode
    change_mode = _settings.change_mode
    drop_mode = _settings.drop_mode
    listed_settings = _settings.listed_settings

    contexts = _contexts.contexts
    drop_context = _contexts.drop_context

    regions = _regions.regions
    zones = _zones.zones


__all__ = ["Options", "Registry", "Resources", "View"]
