"""Whether an embedder and a store's vectors belong together."""

from __future__ import annotations

from alma_graph.backends.protocol import Row
from alma_graph.embedding import Embedder, Encoder, create_embedder, revision_of
from alma_graph.errors import EmbedderMismatchError


def check_embedder(meta: Row, embedder: Embedder, location: str) -> None:
    """Raises EmbedderMismatchError where the store's vectors come from another embedder or have another dimension."""
    stored, given = meta.get("embedder"), embedder.name
    revision, given_revision = meta.get("embedder_revision"), revision_of(embedder)
    same = stored == given and meta.get("dimension") == embedder.dimension
    if same and (revision is None or given_revision is None or revision == given_revision):
        return
    raise EmbedderMismatchError(
        f"the vectors of {location!r} come from embedder {stored!r} (dimension {meta.get('dimension')}, revision "
        f"{revision}), the one given is {given!r} (dimension {embedder.dimension}, revision {given_revision}); open it "
        f"with embedder={stored!r}, or give the whole store other vectors: alma-graph reembed STORE --embedder NAME"
    )


def stored_encoder(meta: Row, location: str) -> Encoder:
    """The encoder of the embedder that a store names.

    Raises:
        EmbedderMismatchError: the embedder of this name is another now.
        AlmaGraphError: it cannot be made here.
    """
    own = create_embedder(meta["embedder"])
    check_embedder(meta, own, location)
    return Encoder(own)
