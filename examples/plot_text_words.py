# SPDX-License-Identifier: BSD-3-Clause
"""
Words that represent all words
==============================

A document-term matrix has thousands of words, and a linear classifier rarely needs them all. Here
:class:`~ridgewise.BSSSelector` selects words without using the topics. This example shows the
selected words and their weights, how to read the certificate, and the held-out error of
:class:`~ridgewise.RLSClassifier`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from ridgewise import BSSSelector, RandomSelector, RLSClassifier, load_stdlib_text

BLUE, ORANGE, GREY = "#0b5fa5", "#dd7a00", "#7b8894"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})

# %%
# The text is that of Python's standard library: a document is a class or a function, and its topic
# is either data formats or the internet. Counts are log-transformed *before* the selection, because
# the certificate is about the matrix that the selector gets.

text = load_stdlib_text()
X = text.data.log1p()
topics = np.array(text.target_names)[text.target]
print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} not zero")

# %%
# Select
# ------
# The selector does not use the topics. ``selected_`` has the words in the order of selection, and
# ``weights_`` their weights in the same order.

selector = BSSSelector(600).fit(X)
words = text.feature_names[selector.selected_]
print(f"{selector.n_selected_} words, rank {selector.rank_}")
print("first:", *words[:12])
print("last: ", *words[-12:])

# %%
# ``transform`` multiplies each column by the square root of its weight, so that the selected words
# also represent the others. The first words, the frequent ones, have weights below 1; the later a
# word is drawn, the more its weight depends on the words before it.

order = np.arange(1, selector.n_selected_ + 1)
figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
axes.scatter(order, selector.weights_, s=12, color=BLUE, alpha=0.6, linewidths=0)
axes.set(xlabel="order of selection", ylabel="weight", xlim=(0, None), ylim=(0, None))
axes.set_title("The weights of the selected words", loc="left")
plt.show()

# %%
# Certify
# -------
# With K the matrix of dot products between documents, and K~ that of the selected, weighted words,
# ``lower K <= K~ <= upper K``. No linear combination of documents is lost, because the measured
# ``lower`` is above 0, as guaranteed a priori.

print(selector.certificate_)

# %%
# Classify documents that were held out
# -------------------------------------
# In a pipeline the selector is fitted on each training set. Random words and all words are shown
# for comparison. Alpha is the same for all, and not tuned.

folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
alpha = 10.0
models = {
    "all words": RLSClassifier(alpha),
    "600 by BSS": make_pipeline(BSSSelector(600), RLSClassifier(alpha)),
    "600 at random": make_pipeline(RandomSelector(600, random_state=0), RLSClassifier(alpha)),
}
for name, model in models.items():
    accuracy = cross_val_score(model, X, topics, cv=folds)
    print(f"{name:14} error {1 - accuracy.mean():.3f}, from fold to fold +- {accuracy.std():.3f}")

# %%
# Read the model
# --------------
# Since features are words, the model is interpretable. A coefficient depends on the weight of its
# word; multiplied by the standard deviation of the weighted column, it does not.

X_small = selector.transform(X).toarray()  # columns in their original order
model = RLSClassifier(alpha).fit(X_small, topics)
strength = model.coef_[0] * X_small.std(axis=0)
names = text.feature_names[selector.get_support()]
ascending = np.argsort(strength)
shown = np.concatenate([ascending[:10], ascending[-10:]])

figure, axes = plt.subplots(figsize=(6.4, 5.6), layout="constrained")
colours = np.where(strength[shown] < 0, BLUE, ORANGE)
axes.barh(np.arange(len(shown)), strength[shown], color=colours)
axes.set_yticks(np.arange(len(shown)), names[shown])
axes.axvline(0, color=GREY, linewidth=0.8)
axes.set_xlabel("coefficient times standard deviation")
axes.text(0.02, 0.97, model.classes_[1], color=ORANGE, weight="bold", transform=axes.transAxes)
axes.text(
    0.98, 0.03, model.classes_[0], color=BLUE, weight="bold", transform=axes.transAxes, ha="right"
)
axes.set_title("Selected words with the largest effects", loc="left")
plt.show()

# %%
# A selected word need not indicate a topic: BSS does not use the topics. The same words serve any
# other question about these documents. If only the topics matter, a supervised method needs fewer
# words.
