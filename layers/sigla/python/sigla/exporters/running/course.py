"""What subjects and keys of the source are called at the destination, and how they are spoken of there."""

from dataclasses import replace

from sigla.exporters import rules
from sigla.exporters.nouns import ContextType, Exporter
from sigla.keks.nouns import Dek, DekName, Kek
from sigla.keks.rules import KEK_NAME
from sigla.model import DEFAULT_CONTEXT, REGISTRY_WIDE, Body, Config, Reference, Rule, RuleSet, Schema, Subject, Target
from sigla.rules import names


class Course:
    """The course of one exporter. source: what the source is called."""

    def __init__(self, exporter: Exporter, source: str) -> None:
        self._exporter = exporter
        self._source = source

    # --- subjects ----------------------------------------------------------------------------------------------------

    def takes(self, subject: Subject) -> bool:
        """Not one whose name would be read as that of another subject, in another context: here, or there."""
        return names.is_reachable(subject) and self.is_reachable_there(subject) and rules.takes(self._exporter, subject)

    def is_reachable_there(self, subject: Subject) -> bool:
        return names.is_reachable(self.subject(subject))

    def subject(self, subject: Subject) -> Subject:
        """What it is called at the destination."""
        return rules.destination_subject(self._exporter, subject, self._source)

    def context(self, context: str) -> str:
        return rules.destination_context(self._exporter, context, self._source)

    def scope(self, scope: Subject) -> Subject | None:
        """Where the settings of a scope belong; None if they belong nowhere."""
        if not scope.name:
            kind = self._exporter.context_type
            if scope == REGISTRY_WIDE and kind is not ContextType.NONE:
                return None
            if kind is ContextType.DEFAULT and scope.context != DEFAULT_CONTEXT:
                return None
        return self.subject(scope)

    def schema(self, body: Body, context: str) -> Schema:
        """Returns it as it is written there. context: of the source, in which its subject is."""
        pairs = zip(body.schema.references, body.targets, strict=True)
        references = tuple(self._reference(*pair, context) for pair in pairs)
        return replace(body.schema, references=references, rule_set=self._rule_set(body.schema.rule_set))

    def _reference(self, reference: Reference, target: Target, context: str) -> Reference:
        source = Subject(target.context, target.subject)
        there = self.subject(source)
        if there == source:
            return reference
        own = names.reference_target(reference.subject, context).context == context
        inside = there.context == self.context(context) and own and not names.names_context(reference.subject)
        return replace(reference, subject=there.name if inside else there.qualified)

    def config(self, config: Config, scope: Subject) -> Config:
        """With its aliases as they are called there."""
        return replace(
            config,
            alias=self._alias(config.alias, scope),
            alias_for_deks=self._alias(config.alias_for_deks, scope),
        )

    def _alias(self, alias: str | None, scope: Subject) -> str | None:
        """One without a context is read where a request stands (ALIAS-4)."""
        if not alias:
            return alias
        if scope.in_default_context or names.names_context(alias):
            return self.subject(names.subject(alias)).qualified
        return self.subject(Subject(scope.context, alias)).name

    def _rule_set(self, rules: RuleSet | None) -> RuleSet | None:
        """Clients find a KEK by the name in a rule."""
        if rules is None or not self._exporter.kek_rename_format:
            return rules
        migration, domain, encoding = (
            tuple(map(self._rule, some)) for some in (rules.migration, rules.domain, rules.encoding)
        )
        return replace(rules, migration=migration, domain=domain, encoding=encoding)

    def _rule(self, rule: Rule) -> Rule:
        if not rule.params or KEK_NAME not in rule.params:
            return rule
        return replace(rule, params={**rule.params, KEK_NAME: self.kek_name(rule.params[KEK_NAME])})

    # --- keys --------------------------------------------------------------------------------------------------------

    def kek_name(self, name: str) -> str:
        return rules.renamed_kek(self._exporter, name)

    def kek(self, kek: Kek) -> Kek:
        return replace(kek, name=self.kek_name(kek.name))

    def dek_name(self, name: DekName) -> DekName:
        return DekName(self.kek_name(name.kek), self.subject(name.subject), name.algorithm)

    def dek(self, dek: Dek) -> Dek:
        return replace(dek, kek=self.kek_name(dek.kek), subject=self.subject(dek.name.subject).qualified)
