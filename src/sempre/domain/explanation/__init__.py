"""Explanations: why a slot or an execution is as it is, decided from rows alone.

`explain_slot` and `explain_execution` take records and return causes in order; nothing here reads a
store or a clock. `wording` turns causes into sentences.
"""

from sempre.domain.explanation.causes import Cause, Code, Explanation, Verdict
from sempre.domain.explanation.executions import explain_execution
from sempre.domain.explanation.records import Records
from sempre.domain.explanation.slots import explain_slot

__all__ = [
    "Cause",
    "Code",
    "Explanation",
    "Records",
    "Verdict",
    "explain_execution",
    "explain_slot",
]
