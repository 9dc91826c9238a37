"""LRA, local recoding anonymization (Terrovitis, Mamoulis and Kalnis, VLDB Journal 2011; docs/algorithms/lra.md).

The algorithm sorts transactions by the rank of their bit vectors in the Gray code, which makes neighbours similar; the first
leaf of the taxonomy, breadth first, is the highest bit. It divides them into equal chunks of at least k transactions, and
AA finds a separate cut for each chunk. A chunk in which some, but fewer than k, transactions hold an item joins its
neighbour.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from anondb.algorithms.apriori.apriori import Apriori, label_order, too_few
from anondb.algorithms.apriori.postings import Postings, load_postings
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, put_integers
from anondb.engine.arrays import Ints
from anondb.engine.telling import Tell, silent, within
from anondb.models.transactional import KmAnonymity
from anondb.recoding import Decision, LocalRecoding

OCCURRENCE_BYTES = 120  # at the peak: the vectors of the Gray order are lists of Python
PARTS = 2  # the fewest chunks of a local recoding: supports, and with them accuracy, fall with every further chunk


@dataclass(frozen=True)
class Chunk:
    """Transactions that share a cut."""

    members: Ints  # the positions in the postings of those with items, in Gray order
    size: int  # number of transactions, those without items included
    cut: frozenset[int]  # the nodes of the cut
    decisions: tuple[Decision, ...]  # the raises, in order


def gray_order(postings: Postings) -> Ints:
    """Sort the transactions by the rank of their bit vectors in the Gray code; equal ones keep their order."""
    taxonomy = postings.taxonomy
    position = np.zeros(taxonomy.size, dtype=np.int64)
    leaves = np.flatnonzero(taxonomy.is_leaf)
    position[leaves[np.argsort(taxonomy.rank[leaves])]] = np.arange(1, len(leaves) + 1)
    return by_gray_code(position[postings.leaf], postings.start, len(leaves))


def by_gray_code(bits: Ints, start: Ints, length: int) -> Ints:
    """Sort bit vectors by their ranks in the Gray code; equal ones keep their order. The positions of the bits of vector i,
    from 1 to ``length``, are ``bits[start[i] : start[i + 1]]``, in any order. The bit of the rank at a position is the
    parity of the bits up to it. So of two vectors that first differ at some position, the one with the bit comes later if
    the number of bits before is even, else earlier: the positions of the bits, with alternating signs, sort like the
    ranks."""
    n, sizes = len(start) - 1, np.diff(start)
    bits = bits[np.lexsort((bits, np.repeat(np.arange(n), sizes)))]
    within = np.arange(len(bits)) - np.repeat(start[:-1], sizes)
    signed = np.where(within % 2, bits, -bits).tolist()
    end = length + 1  # after the last bit of a vector: as if its next bit came last
    keys = [(*signed[a:b], end if (b - a) % 2 else -end) for a, b in pairwise(start.tolist())]
    return np.asarray(sorted(range(n), key=keys.__getitem__), dtype=np.int64)


def split(order: Ints, empty: int, k: int, parts: int) -> list[tuple[Ints, int]]:
    """Divide transactions into ``parts`` equal chunks of at least k, each with its size; ``order`` has those with items in
    Gray order, after ``empty`` ones. The last chunk includes a remainder below k. A chunk that AA cannot recode joins the
    next, the last one the previous. Raises InfeasibleError: fewer than k transactions hold an item, but some do."""
    n = len(order) + empty
    size = max(k, -(-n // parts))
    ends = [*range(size, n, size), n]
    if len(ends) > 1 and n - ends[-2] < k:
        del ends[-2]
    chunks: list[tuple[Ints, int]] = []
    begin = 0
    for end in ends:
        members = order[max(begin - empty, 0) : max(end - empty, 0)]
        if 0 < len(members) < k and end < n:
            continue  # it joins the next chunk
        while 0 < len(members) < k and chunks:
            before, count = chunks.pop()
            members, begin = np.concatenate((before, members)), begin - count
        if 0 < len(members) < k:
            raise too_few(len(order), k)
        chunks.append((members, end - begin))
        begin = end
    return chunks


def recode_chunks(postings: Postings, empty: int, model: KmAnonymity, parts: int, tell: Tell = silent) -> Iterator[Chunk]:
    """Run AA on each chunk separately; ``tell`` is told of the progress."""
    taxonomy = postings.taxonomy
    order = label_order(taxonomy)
    leaves = set(np.flatnonzero(taxonomy.is_leaf).tolist())
    tell("sorting the transactions", None)
    chunks = split(gray_order(postings), empty, model.k, parts)
    for number, (members, size) in enumerate(chunks, 1):
        told = within(tell, f"chunk {number} of {len(chunks)}")
        search = Apriori(postings.part(members), model.k, order, 0, set(leaves), tell=told)
        search.run(model.m)
        yield Chunk(members, size, frozenset(search.cut), tuple(search.decisions))


def lra(engine: Engine, dataset: Dataset, taxonomy: Taxonomy, model: KmAnonymity, *, parts: int = PARTS) -> LocalRecoding:
    """Achieve k^m-anonymity by generalization only, with one cut for each of ``parts`` chunks of at least k similar
    transactions (1 is AA). The cost of a decision is the total NCP of its chunk after the step, its round the size of the
    threat."""
    postings, tids = load_postings(engine, dataset, taxonomy, OCCURRENCE_BYTES)
    owners, nodes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    decisions: list[Decision] = []
    chunks = list(recode_chunks(postings, dataset.n_transactions - postings.n, model, parts, engine.progress))
    for chunk in chunks:
        image = np.full(taxonomy.size, -1, dtype=np.int32)
        for node in chunk.cut:
            image[node : int(taxonomy.last[node]) + 1] = node
        owner, node_shown = postings.part(chunk.members).shown(np.arange(len(chunk.members), dtype=np.int32), image)
        owners.append(tids[chunk.members[owner]])
        nodes.append(node_shown)
        decisions += [replace(d, step=len(decisions) + i) for i, d in enumerate(chunk.decisions, 1)]
    used, released = np.unique(np.concatenate(nodes), return_inverse=True)
    member_of, member_labels = taxonomy.labels_below(used.astype(np.int64))
    copies = np.ones(len(released), dtype=np.int64)
    return LocalRecoding(
        transactions=put_integers(engine, "recoded", tid=np.concatenate(owners), released=released, copies=copies),
        incomplete=np.empty(0, dtype=np.int64),
        labels=tuple(taxonomy.labels[node] for node in used.tolist()),
        member_of=member_of,
        member_labels=member_labels,
        decisions=tuple(decisions),
        remarks=(f"The transactions were recoded in {len(chunks)} chunks, each with a separate cut.",),
    )
