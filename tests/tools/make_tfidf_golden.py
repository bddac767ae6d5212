#!/usr/bin/env python3
"""Writes tests/data/tf_idf.jsonl: scikit-learn's weights of the first documents of the sample, a line for each term.

  python3 tests/tools/make_tfidf_golden.py      (from the root of the repository; needs scikit-learn)
"""
import json

from sklearn.feature_extraction.text import TfidfVectorizer

with open("examples/data/descriptions.jsonl", encoding="utf-8") as file:
    texts = [json.loads(line)["text"] for line in file]
model = TfidfVectorizer()
matrix = model.fit_transform(texts).tocsr()
names = model.get_feature_names_out()
with open("tests/data/tf_idf.jsonl", "w", encoding="utf-8") as out:
    for row in range(40):
        for at in range(matrix.indptr[row], matrix.indptr[row + 1]):
            line = {"row": row, "term": str(names[matrix.indices[at]]), "weight": float(matrix.data[at])}
            print(json.dumps(line, ensure_ascii=False), file=out)
