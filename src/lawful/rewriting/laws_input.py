"""Laws that were read from texts and files, as laws that may justify a rewriting."""

from __future__ import annotations

from lawful.common.errors import LawfulError, SourceError, UsageError
from lawful.dependencies.tokens import names_in
from lawful.rewriting.known_laws import KnownLaws
from lawful.runs.laws_input import LawsInput


def known_from_input(given: LawsInput) -> KnownLaws:
    """Gather laws from documents, and from texts over the columns of the documents or else over their own."""
    known: KnownLaws | None = None
    for source in given.sources:
        if source.document is None:
            continue
        try:
            document = KnownLaws.from_document(source.document)
        except LawfulError as error:
            raise SourceError(f"{source.name}: {error.typed_message}", error.typed_hint) from None
        known = document if known is None else known.with_more(document)
    texts = [source for source in given.sources if source.document is None]
    for source in texts:
        if source.text is None:
            raise UsageError(
                f"{source.name}: does not say whether its laws hold without exception, or what null means to them",
                "Give the whole document that a discovery writes at its end.",
            )
    if known is None:
        known = KnownLaws.of((), list(dict.fromkeys(name for source in texts for name in names_in(source.text or ""))))
    return KnownLaws(
        known.columns,
        (*known.laws, *(asked.law for source in texts for asked in source.read(known.names))),
        known.refused,
    )
