"""Schemas in files: which subject each is for, what it references, and what registering it would come to.

declaration, yaml_parts                         `sigla.yaml`
trees, file_sets, used_names                    the files that it names, and what each needs of the others
facts, dump_facts, store_facts, remote_facts    what a registry knows, wherever it is read
no_facts                                        nothing: for files as they were in a revision of git
scratch                                         a registry in memory that holds what was asked for, and is written to
check, foreseeing                               files, registered there one after the other, and their settings
steps, applying                                 what has to be written, and doing it: remote_target, store_target
reports, ci_reports                             what became of them, for people and for programs
"""
