"""SQL that makes tables: keys, and checks that compare single cells."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any, Final, cast

from lawful.common.errors import SourceError, UsageError
from lawful.dependencies import DC, Cell, Constant, NamedLaw, Operator, Predicate
from lawful.dependencies.laws import NEGATED
from lawful.exports.reading.rules import NOT_A_LAW, Rule, Rules

try:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError
except ModuleNotFoundError:
    raise UsageError("reading SQL needs sqlglot", "Run: pip install 'lawful[exports]'") from None

_OPERATORS: Final[dict[type[Any], Operator]] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def read_ddl(content: str, dialect: str, rules: Rules) -> None:
    """Read CREATE TABLE and ALTER TABLE; other statements are passed over."""
    try:
        statements = sqlglot.parse(content, dialect=dialect or None)
    except (SqlglotError, RecursionError, ValueError) as error:
        line = (str(error).splitlines() or ["it nests too deep"])[0]
        raise SourceError(f"cannot be parsed as SQL: {line}", "Name its dialect with --dialect.") from None
    for statement in statements:
        if isinstance(statement, exp.Create) and isinstance(statement.this, exp.Schema):
            table = statement.this.this.name
            for part in statement.this.expressions:
                _read_part(part, table, rules)
        elif isinstance(statement, exp.Create) and isinstance(statement.this, exp.Index):
            _read_index(statement, rules)
        elif isinstance(statement, exp.Alter):
            for action in statement.args.get("actions") or ():
                for part in action.expressions if isinstance(action, exp.AddConstraint) else [action]:
                    _read_part(part, statement.this.name, rules)


def _read_part(part: Any, table: str, rules: Rules) -> None:
    if isinstance(part, exp.ColumnDef):
        for constraint in part.args.get("constraints") or ():
            _read_kind(constraint.args.get("kind"), [part.name], table, rules)
    elif isinstance(part, exp.Constraint):
        for inner in part.expressions:
            _read_kind(inner, None, table, rules)
    else:
        _read_kind(part, None, table, rules)


def _read_kind(kind: Any, column: list[str] | None, table: str, rules: Rules) -> None:
    match kind:
        case exp.PrimaryKey():
            rules.key([_name(each) for each in kind.expressions], table, "PRIMARY KEY")
        case exp.PrimaryKeyColumnConstraint():
            rules.key(column, table, "PRIMARY KEY")
        case exp.UniqueColumnConstraint():
            listed = kind.this.expressions if isinstance(kind.this, exp.Schema) else []
            null = "equal" if kind.args.get("nulls") else "ignore"  # NULLS NOT DISTINCT
            rules.key([_name(each) for each in listed] or column, table, "UNIQUE", null)
        case exp.CheckColumnConstraint() | exp.Check():
            _read_check(kind.this, table, rules)
        case exp.ForeignKey() | exp.Reference():
            rules.leave(kind.sql(), table, "it speaks of another table")
        case exp.NotNullColumnConstraint():
            rules.leave(f"NOT NULL({', '.join(column or [])})", table, NOT_A_LAW)


def _read_index(statement: exp.Create, rules: Rules) -> None:
    index = statement.this
    source = index.args.get("table")
    if statement.args.get("unique") and source is not None:
        parameters = index.args.get("params")
        listed = (parameters.args.get("columns") if parameters is not None else None) or ()
        rules.key([_name(each) for each in listed], source.name, "UNIQUE INDEX")


def _name(part: Any) -> str | None:
    """The name of a column, which may stand below an order."""
    while isinstance(part, exp.Ordered | exp.Column):
        part = part.this
    return str(part.name) if isinstance(part, exp.Identifier) else None


def _read_check(condition: Any, table: str, rules: Rules) -> None:
    """What must be true of each row: no row t has the opposite. Null passes a check, and is left out of the law."""
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.And):
        _read_check(condition.left, table, rules)
        _read_check(condition.right, table, rules)
        return
    operator = _OPERATORS.get(type(condition))
    what = f"CHECK ({condition.sql()})"
    sides = [] if operator is None else [_side(condition.left), _side(condition.right)]
    names = [side for side in sides if isinstance(side, str)]
    if operator is None or None in sides or not names or len(set(names)) < len(names):
        rules.leave(what, table, "only comparisons of columns and constants are read")
        return
    left, right = (Cell("t", names.index(side)) if isinstance(side, str) else side for side in sides)
    negated = NEGATED[operator]
    if not isinstance(left, Cell):
        left, right, negated = right, left, _turned(negated)
    predicate = Predicate(cast(Cell, left), negated, cast(Cell | Constant, right))
    rules.rules.append(Rule(NamedLaw(DC((predicate,)), tuple(names)).text, table))


def _turned(operator: Operator) -> Operator:
    return cast(Operator, operator.translate(str.maketrans("<>", "><")))


def _side(part: Any) -> str | Constant | None:
    if isinstance(part, exp.Column) and isinstance(part.this, exp.Identifier):
        return part.name
    if isinstance(part, exp.Boolean):
        return Constant(bool(part.this))
    sign = -1 if isinstance(part, exp.Neg) else 1
    literal = part.this if isinstance(part, exp.Neg) else part
    if not isinstance(literal, exp.Literal):
        return None
    if literal.is_string:
        return Constant(literal.this) if sign == 1 else None
    try:
        return Constant(sign * Decimal(literal.this))
    except (InvalidOperation, UsageError):
        return None
