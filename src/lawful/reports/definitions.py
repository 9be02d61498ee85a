"""What the numbers and words of a page mean, one click away from each of them."""

from __future__ import annotations

_DEFINITIONS: tuple[tuple[str, str, str], ...] = (
    (
        "law",
        "law",
        "A sentence about all rows of the table. key(a): no two rows agree on a. a -> b: rows that agree on a "
        "agree on b. {c}: a asc ~ b asc: among rows that agree on c, no two are ordered one way by a and the "
        "other way by b. [a] -> [b]: rows sorted by a are sorted by b. not(...): no two rows t and s satisfy "
        "all comparisons.",
    ),
    (
        "broken",
        "broken",
        "At least two rows break the law, and more than was allowed when it was found or checked.",
    ),
    (
        "almost",
        "almost",
        "Some rows break the law, but no more than was allowed; of the strongest laws, no more than when it was found.",
    ),
    (
        "holds",
        "holds",
        "No two rows break the law.",
    ),
    (
        "unchecked",
        "not checked",
        "The check of this page ended before it came to the law: at its time limit, or because it was interrupted.",
    ),
    (
        "strength",
        "strength",
        "1 - lost / expected: the share of the losses that chance would bring which the law does not have. 1: "
        "it was tested and holds. Near 1: it almost holds. 0: it is no better than chance, or nothing tests "
        "it. For functional dependencies it is the measure mu+. An empty cell: it was not counted.",
    ),
    (
        "interest",
        "interest",
        "The coverage of the left side, key or context: the chance that two rows drawn at random, with "
        "replacement, agree on it. A law of little interest says something about few pairs of rows.",
    ),
    (
        "tested",
        "tested",
        "How many pairs of rows put the law to the test; for a functional dependency, the pairs that agree on "
        "its left side.",
    ),
    (
        "violating",
        "violating rows",
        "Rows that take part in at least one violation of the law, each counted once.",
    ),
    (
        "pairs",
        "violating pairs",
        "Pairs of rows that break the law.",
    ),
    (
        "removals",
        "rows to remove",
        "The fewest rows whose removal would leave the law unbroken. Of denial constraints that is too hard to count.",
    ),
    (
        "error",
        "error",
        "The share that breaks the law: of the rows (g3: rows to remove / rows) or of the pairs of rows (g1: "
        "violating pairs / pairs). The settings say which measure was used; the strongest laws have g3.",
    ),
    (
        "folded",
        "follows from others",
        "The law is implied by laws before it in the list, so it says nothing new. It is hidden until you ask for it.",
    ),
    (
        "entity",
        "columns that determine each other",
        "Each of these columns determines the others, and loses at most a tenth of what chance would lose. "
        "They name the same thing.",
    ),
    (
        "distinct",
        "distinct",
        "How many different values the column has, null not counted.",
    ),
    (
        "nulls",
        "nulls",
        "How many rows have no value in the column.",
    ),
    (
        "matrix",
        "the matrix",
        "A mark says that the column of its row determines the column above it. A full square: exactly. A "
        "key: because its values are never repeated. A half square: almost, by its strength. A number: only "
        "together with others, and that many columns are on the smallest left side.",
    ),
    (
        "graph",
        "the graph",
        "Arrows lead from a column to what it determines, exactly or with a strength of at least 0.9. Columns "
        "that determine each other share a box. Arrows that follow from others are left out. Dashed lines "
        "join columns that order rows alike, rising together or against each other.",
    ),
    (
        "swap",
        "out of order",
        "Two rows are swapped if one column orders them one way and the other column the other way. Marked "
        "are the fewest rows of the plot's class whose removal leaves no swap, each with a line to a row that "
        "it is swapped with.",
    ),
    (
        "batch",
        "batch",
        "Rows that were deleted and inserted together. It is applied whole or not at all, and makes a new "
        "version of the table.",
    ),
    (
        "seconds",
        "seconds",
        "Wall-clock time of each step when the laws were found or checked.",
    ),
)


def definitions() -> list[dict[str, str]]:
    """All definitions: the word that is clicked, what it is called, and what it means."""
    return [{"term": term, "name": name, "text": text} for term, name, text in _DEFINITIONS]
