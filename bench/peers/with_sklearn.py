"""scikit-learn's MiniBatchNMF with the Kullback-Leibler loss, fed with observations as they come.

It has no model of time: what is compared is what it costs to take in an observation.
"""

import numpy as np
from sklearn.decomposition import MiniBatchNMF


class Factorisation:
    """update(rows) takes in a batch of observations."""

    def __init__(self, components, seed=1):
        self.nmf = MiniBatchNMF(n_components=components, beta_loss="kullback-leibler",
                                init="random", random_state=seed)

    def update(self, rows):
        with np.errstate(invalid="ignore"):  # an observation of nothing but zeros
            self.nmf.partial_fit(rows)
