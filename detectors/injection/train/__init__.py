"""Training of the learned injection classifier: texts in, an artefact and its card out.

Not part of the wheel; nothing that serves requests imports it.  Corpus: the texts of a data folder
and our own, cleaned.  Carriers: documents that attacks are put into.  Augment: disguises that
normalising does not undo.
"""
