"""What every engine must do, written once: each function takes a way to make an engine, and a table, and asserts.

The same functions run on the engines in the test's own process and, as a script, on clusters.
"""

from __future__ import annotations

from engines.contract.calls import (
    ends_one_call_and_no_other,
    feeds_a_stream,
    may_be_left_early,
    runs_several_calls_at_once,
    stops_when_cancelled,
)
from engines.contract.evidence import (
    compares_all_pairs,
    compares_all_pairs_over_a_space,
    compares_the_pairs_of_classes,
    compares_the_pairs_of_some_rows,
    finds_all_swaps,
    finds_violating_pairs,
    finds_what_refutes_pointwise_laws,
)
from engines.contract.verdicts import (
    accepts_no_tasks,
    asks_almost_laws,
    gives_the_reference_verdicts,
    judges_denial_constraints,
    keeps_its_verdicts_when_tuned,
    refuses_to_check_before_it_is_opened,
    refuses_what_it_cannot_check,
    tries_laws_of_every_family,
)
from engines.contract.violations import (
    streams_all_violating_pairs,
    streams_all_violating_rows,
    tells_groups_in_short,
)

CONTRACT = (
    gives_the_reference_verdicts,
    compares_all_pairs,
    compares_the_pairs_of_some_rows,
    finds_what_refutes_pointwise_laws,
    compares_all_pairs_over_a_space,
    judges_denial_constraints,
    tries_laws_of_every_family,
    asks_almost_laws,
    finds_violating_pairs,
    streams_all_violating_rows,
    streams_all_violating_pairs,
    tells_groups_in_short,
    finds_all_swaps,
    compares_the_pairs_of_classes,
    accepts_no_tasks,
    runs_several_calls_at_once,
    refuses_what_it_cannot_check,
    refuses_to_check_before_it_is_opened,
    stops_when_cancelled,
    may_be_left_early,
    ends_one_call_and_no_other,
    keeps_its_verdicts_when_tuned,
    feeds_a_stream,
)


__all__ = ["CONTRACT"]
