"""Schemas in files: which subject each is for, what it references, and what registering it would come to.

facts, dump_facts, store_facts, remote_facts    what a registry knows, wherever it is read
scratch                                         a registry in memory that holds what was asked for, and is written to
check                                           files, registered there one after the other
reports, ci_reports                             what became of them, for people and for programs
"""
