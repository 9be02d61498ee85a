"""The nouns: the laws that a table can obey, how they are written, and what follows from them.

Laws speak of columns by index; names appear only where a law is written or read.
"""

from lawful.dependencies.denial_implication import is_trivial, negated, satisfiable, swapped
from lawful.dependencies.documents import from_document, from_documents, from_documents_alone, to_document
from lawful.dependencies.fd_theory import candidate_keys, canonical_cover
from lawful.dependencies.forms import (
    Document,
    LawForm,
    columns_of,
    form_of,
    format_law,
    kind_of,
    kinds,
    register_form,
    words_of,
)
from lawful.dependencies.implication import canonical_parts, closure, implies, mirrored
from lawful.dependencies.laws import (
    DC,
    FD,
    POD,
    CanonicalOD,
    Cell,
    Constant,
    Key,
    Law,
    LawKind,
    ListOD,
    Operator,
    Predicate,
    Row,
)
from lawful.dependencies.named_law import NamedLaw
from lawful.dependencies.own_forms import FORMS
from lawful.dependencies.parser import parse_law, parse_laws
from lawful.dependencies.pointwise import as_denial

__all__ = [
    "DC",
    "FD",
    "FORMS",
    "POD",
    "CanonicalOD",
    "Cell",
    "Constant",
    "Document",
    "Key",
    "Law",
    "LawForm",
    "LawKind",
    "ListOD",
    "NamedLaw",
    "Operator",
    "Predicate",
    "Row",
    "as_denial",
    "candidate_keys",
    "canonical_cover",
    "canonical_parts",
    "closure",
    "columns_of",
    "form_of",
    "format_law",
    "from_document",
    "from_documents",
    "from_documents_alone",
    "implies",
    "is_trivial",
    "kind_of",
    "kinds",
    "mirrored",
    "negated",
    "parse_law",
    "parse_laws",
    "register_form",
    "satisfiable",
    "swapped",
    "to_document",
    "words_of",
]
