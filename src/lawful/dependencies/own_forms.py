"""The forms of lawful's own families."""

from __future__ import annotations

from lawful.dependencies import documents, notation
from lawful.dependencies.forms import LawForm, register_form
from lawful.dependencies.laws import DC, FD, POD, CanonicalOD, Cell, Key, ListOD


def _columns_of_predicates(law: DC) -> tuple[int, ...]:
    cells = (cell for predicate in law.predicates for cell in (predicate.left, predicate.right))
    return tuple(sorted({cell.column for cell in cells if isinstance(cell, Cell)}))


FORMS = (
    LawForm(
        "key",
        ("key", "keys"),
        Key,
        lambda law: law.columns,
        notation.format_key,
        documents.key_fields,
        documents.FieldReader.key,
        call=Key,
    ),
    LawForm(
        "fd",
        ("functional dependency", "functional dependencies"),
        FD,
        lambda law: tuple(sorted((*law.lhs, law.rhs))),
        notation.format_fd,
        documents.fd_fields,
        documents.FieldReader.fd,
    ),
    LawForm(
        "canonical-od",
        ("canonical order dependency", "canonical order dependencies"),
        CanonicalOD,
        lambda law: tuple(sorted((*law.context, law.left, law.right))),
        notation.format_canonical_od,
        documents.canonical_od_fields,
        documents.FieldReader.canonical_od,
    ),
    LawForm(
        "list-od",
        ("list-based order dependency", "list-based order dependencies"),
        ListOD,
        lambda law: tuple(sorted({column for column, _ in law.lhs + law.rhs})),
        notation.format_list_od,
        documents.list_od_fields,
        documents.FieldReader.list_od,
    ),
    LawForm(
        "pod",
        ("pointwise order dependency", "pointwise order dependencies"),
        POD,
        lambda law: tuple(sorted(column for column, _ in (*law.lhs, law.rhs))),
        notation.format_pod,
        documents.pod_fields,
        documents.FieldReader.pod,
    ),
    LawForm(
        "dc",
        ("denial constraint", "denial constraints"),
        DC,
        _columns_of_predicates,
        notation.format_dc,
        documents.dc_fields,
        documents.FieldReader.dc,
    ),
)


for form in FORMS:
    register_form(form)
