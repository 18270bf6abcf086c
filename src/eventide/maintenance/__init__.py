"""Truth maintenance: what follows from which assumptions, for all sets of assumptions at once. Knows no languages."""

from eventide.maintenance.contexts import conflicts, maximal_contexts, minimal_hitting_sets
from eventide.maintenance.defaults import extensions
from eventide.maintenance.network import LabelError, Network

__all__ = ["LabelError", "Network", "conflicts", "extensions", "maximal_contexts", "minimal_hitting_sets"]
