"""The ORDER BY of a query: what it means, and what can stand in its place."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from lawful.dependencies.notation import format_name
from lawful.rewriting.names import UnsafeError, has_only, is_plain
from lawful.rewriting.orders import IndexFit, OrderStep, Term, Terms, fit_index, shorten
from lawful.rewriting.queries import Index, Query
from lawful.rewriting.reasoning import Proof, Reasoner, joined
from lawful.rewriting.result import IndexUse, Step
from lawful.rewriting.texts import with_order


class OrderRewriting:
    """The ORDER BY of a query: what it means, and what can stand in its place."""

    def __init__(self, query: Query, reasoner: Reasoner) -> None:
        self.query = query
        self.reasoner = reasoner
        order = query.select.args["order"]
        self.written_terms: list[exp.Ordered] = list(order.expressions)
        plain = has_only(order, "expressions") and all(
            isinstance(term, exp.Ordered) and has_only(term, "this", "desc", "nulls_first")
            for term in self.written_terms
        )
        if not plain:
            raise UnsafeError("it does more than sort")
        self.asked: Terms = tuple(query.term(term, query.outputs.ordered(term.this)) for term in self.written_terms)
        self.spelled: dict[int, exp.Column] = {
            term.column: written.this
            for term, written in zip(self.asked, self.written_terms, strict=True)
            if is_plain(written.this)
        }
        self.limited = bool(query.select.args.get("limit") or query.select.args.get("offset"))
        self.allowed = self._sortable()

    def _sortable(self) -> set[int] | None:
        """Find the columns that the clause may name; None for all. What is grouped or distinct must be shown."""
        select, outputs = self.query.select, self.query.outputs
        allowed: set[int] | None = None
        if group := select.args.get("group"):
            allowed = {column for column in map(outputs.grouped, group.expressions) if column is not None}
        elif _aggregates(select):
            raise UnsafeError("the query makes one row")
        if select.args.get("distinct"):
            shown = outputs.plain_columns()
            allowed = shown if allowed is None else allowed & (allowed if shown is None else shown)
        if allowed is not None and not allowed.issuperset(term.column for term in self.asked):
            raise UnsafeError("it sorts by a column that the rows of the result do not have")
        return allowed

    def rewrite(self, indexes: Sequence[Index]) -> None:
        """Find the shortest ORDER BY, or the one that an index gives, and put it into the query."""
        found = self._shorten(self.asked)
        terms = found[-1].after if found else self.asked
        if not terms:
            if indexes:
                self.query.notes.append("all rows tie, so no index is needed for the ORDER BY")
            indexes = ()
            if self.limited:  # databases ask for an ORDER BY where rows are counted off
                terms = self.asked[:1]
                found = [] if terms == self.asked else [OrderStep(found[0].why, self.asked, terms, _proof(found))]
        fits = [fit_index(self.reasoner, index.terms, terms) for index in indexes]
        steps = [self._described(step) for step in found]
        chosen = self._chosen(fits, terms)
        if chosen is not None and chosen.terms != terms:
            text = f"{self._text(chosen.terms)} takes its place: rows in this order are sorted by {self._text(terms)}"
            steps.append(self._step(text, terms, chosen.terms, chosen.proof))
            terms = chosen.terms
        if terms != self.asked:
            self._put(terms, indexes)
        self.query.steps += steps
        self.query.uses += [self._use(*pair, found) for pair in zip(indexes, fits, strict=True)]
        self._note_nulls(terms, indexes, fits)

    def _shorten(self, asked: Terms) -> list[OrderStep]:
        """Shorten with columns of the query first, then with any others of the table."""
        others = range(len(self.query.names.names)) if self.allowed is None else sorted(self.allowed)
        return shorten(self.reasoner, asked, [Term(column) for column in others])

    def _chosen(self, fits: Sequence[IndexFit | None], terms: Terms) -> IndexFit | None:
        """Choose the index whose order becomes the ORDER BY: best the one that changes least."""
        usable = []
        for fit in filter(None, fits):
            if self.allowed is not None and not self.allowed.issuperset(term.column for term in fit.terms):
                self.query.notes.append(f"{self._text(fit.terms)} is not used: the rows of the result do not have it")
            elif self.limited and not fit.alike:
                self.query.notes.append(
                    f"{self._text(fit.terms)} is not used: it also breaks ties, so that LIMIT could keep other rows"
                )
            else:
                usable.append(fit)
        return min(usable, key=lambda fit: (fit.terms != terms, not fit.alike, len(fit.terms)), default=None)

    def _use(self, index: Index, fit: IndexFit | None, found: list[OrderStep]) -> IndexUse:
        if fit is None:
            return IndexUse(index.text, suffices=False)
        laws = self.query.written(joined(_proof(found), fit.proof))
        return IndexUse(index.text, True, self._texts(fit.terms), fit.backwards, fit.alike, laws)

    def _put(self, terms: Terms, indexes: Sequence[Index]) -> None:
        """Put terms into the query: as they are written where they were asked for, else anew."""
        query = self.query
        for index in indexes:
            for term, column in zip(index.terms, index.written, strict=True):
                self.spelled.setdefault(term.column, column)
        places = [self.asked.index(term) if term in self.asked else None for term in terms]
        trees = [
            self._tree(term) if place is None else self.written_terms[place].copy()
            for term, place in zip(terms, places, strict=True)
        ]
        items = [
            tree.sql(dialect=query.dialect) if place is None else place
            for tree, place in zip(trees, places, strict=True)
        ]
        if trees:
            query.select.args["order"].set("expressions", trees)
        else:
            query.select.set("order", None)
        query.sql = with_order(query.sql, query.select, len(self.written_terms), items, query.dialect)

    def _tree(self, term: Term) -> exp.Ordered:
        if self.query.may_be_null(term.column):
            nulls_first = (term.direction == "asc") != term.nulls_high
        else:
            nulls_first = _usual_nulls_first(term.direction, self.query.dialect)
        column = self._column(term.column)
        return exp.Ordered(this=column, desc=term.direction == "desc" or None, nulls_first=nulls_first)

    def _column(self, column: int) -> exp.Column:
        """Write a column: as the query or an index does, else by its name; with its table where that is not clear."""
        written = self.spelled.get(column)
        plain = written.copy() if written is not None else exp.column(self.query.names.identifier(column))
        try:
            if self.query.outputs.ordered(plain) == column:
                return plain
        except UnsafeError:
            pass
        return exp.column(plain.this.copy(), table=self.query.outputs.table_name())

    def _note_nulls(self, terms: Terms, indexes: Sequence[Index], fits: Sequence[IndexFit | None]) -> None:
        """Say so where only the place of nulls stands in the way."""
        high = [term for term in self.asked if term.nulls_high]
        if not high:
            return
        found = self._shorten(_nulls_low(self.asked))
        shortest = found[-1].after if found else self.asked
        could_fit = [fit_index(self.reasoner, _nulls_low(index.terms), _nulls_low(shortest)) for index in indexes]
        gained = any(fit is not None and old is None for fit, old in zip(could_fit, fits, strict=True))
        if gained or len(shortest or self.asked[:1]) < len(terms):
            self.query.notes.append(
                f"laws about the order of {self._text(high)} are not used: laws mean null as the smallest value, and "
                "here it is sorted as the largest; another place of nulls (NULLS FIRST, NULLS LAST) or columns known "
                "to have none (--not-null) would help"
            )

    def _described(self, step: OrderStep) -> Step:
        kept = list(step.after)
        dropped = self._text([term for term in step.before if term not in kept])
        match step.why:
            case "replaced":
                text = f"{self._text(step.after)} sorts rows as {self._text(step.before)} does"
            case "repeated":
                text = "a column that is sorted by twice is dropped"
            case "ordered":
                text = f"{dropped} is dropped: rows sorted by {self._text(step.after)} are sorted by it"
            case "determined":
                place = next(at for at, term in enumerate(step.before) if step.after[at : at + 1] != (term,))
                before = ", ".join(self._name(term.column) for term in step.before[:place])
                rows = f"rows that agree on {before} agree" if before else "all rows agree"
                text = f"{dropped} is dropped: {rows} on it"
        return self._step(text, step.before, step.after, step.proof)

    def _step(self, text: str, before: Terms, after: Terms, proof: Proof) -> Step:
        return Step("order by", text, self._texts(before), self._texts(after), self.query.written(proof))

    def _texts(self, terms: Sequence[Term]) -> tuple[str, ...]:
        nulls = {("asc", True): " nulls last", ("desc", True): " nulls first"}
        return tuple(
            f"{self._name(term.column)} {term.direction}{nulls.get((term.direction, term.nulls_high), '')}"
            for term in terms
        )

    def _name(self, column: int) -> str:
        """Write a name as laws do, so that words about a column named 7 are not about a seventh one."""
        return format_name(column, self.query.names.names)

    def _text(self, terms: Sequence[Term]) -> str:
        return ", ".join(self._texts(terms))


def _aggregates(select: exp.Select) -> bool:
    """Whether a query without GROUP BY gathers its rows into one."""
    if select.args.get("having"):
        return True
    return any(
        not found.find_ancestor(exp.Window) and found.parent_select is select
        for item in select.expressions
        for found in item.find_all(exp.AggFunc)
    )


def _usual_nulls_first(direction: str, dialect: Dialect) -> bool:
    if dialect.NULL_ORDERING == "nulls_are_last":
        return False
    return (direction == "asc") == (dialect.NULL_ORDERING == "nulls_are_small")


def _nulls_low(terms: Terms) -> Terms:
    return tuple(term._replace(nulls_high=False) for term in terms)


def _proof(steps: Sequence[OrderStep]) -> Proof:
    return joined(*(step.proof for step in steps))
