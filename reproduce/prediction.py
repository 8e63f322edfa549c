"""Prediction beside classical factorisation: one step ahead, and of channels that are hidden.

A peer's activation is carried forward: what it found for y_{t-1} predicts y_t. Where that puts no
intensity on a channel that then has counts, its log-probability is minus infinity; so intensities
are mixed with the channel's mean, with the weight that is best for the peer on the end of the
training data.
"""

import warnings

import numpy as np
from scipy.special import gammaln, xlogy
from sklearn.decomposition import NMF, MiniBatchNMF, non_negative_factorization
from sklearn.exceptions import ConvergenceWarning

from examples import EXAMPLE1, EXAMPLE2, K, M
from page import commands, section, table

# That a peer would take more iterations shows in its result.
warnings.filterwarnings("ignore", category=ConvergenceWarning)

WEIGHTS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
LEAST = 0.01  # the weight of the mean in the rows that are not tuned
HIDDEN = slice(1, None, 2)  # every second channel
SEEN = slice(0, None, 2)


def nats(counts, intensity):
    """Mean log-probability of a cell under the Poisson law."""
    return np.mean(xlogy(counts, intensity) - intensity - gammaln(counts + 1))


def mixed(intensity, mean, weight):
    return (1 - weight) * intensity + weight * mean


def best_weight(counts, intensity, mean):
    return max(WEIGHTS, key=lambda weight: nats(counts, mixed(intensity, mean, weight)))


def activations(channels, basis):
    """Of a peer: the best by the Kullback-Leibler divergence, each observation for itself."""
    return non_negative_factorization(channels, H=basis, n_components=len(basis), update_H=False,
                                      init="custom", solver="mu", beta_loss="kullback-leibler",
                                      tol=1e-6, max_iter=1000)[0]


def peer_basis(peer, train):
    # The defaults of NMF, 1e-4 and 200, end it long before it has converged.
    common = dict(n_components=K, beta_loss="kullback-leibler", init="nndsvda", random_state=1)
    if peer == "NMF":
        return NMF(solver="mu", tol=1e-6, max_iter=1000, **common).fit(train).components_
    return MiniBatchNMF(**common).fit(train).components_


def peer_scores(peer, train, test):
    """Row -> nats a cell, one step ahead and of the hidden channels."""
    basis, mean = peer_basis(peer, train), train.mean(axis=0)
    tuning = train[-len(test):]
    ahead = {}
    for name, record in ("tuning", tuning), ("test", test):
        before = np.vstack([train[-1:] if name == "test" else train[-len(test) - 1:-len(test)],
                            record[:-1]])
        ahead[name] = activations(before, basis) @ basis
    hidden = {name: activations(record[:, SEEN], basis[:, SEEN]) @ basis[:, HIDDEN]
              for name, record in (("tuning", tuning), ("test", test))}
    ahead_weight = best_weight(tuning, ahead["tuning"], mean)
    hidden_weight = best_weight(tuning[:, HIDDEN], hidden["tuning"], mean[HIDDEN])
    scores = {}
    for row, weights in ((peer, (LEAST, LEAST)), (f"{peer}, tuned", (ahead_weight, hidden_weight))):
        scores[row] = (nats(test, mixed(ahead["test"], mean, weights[0])),
                       nats(test[:, HIDDEN], mixed(hidden["test"], mean[HIDDEN], weights[1])))
    return scores


def our_scores(work, model, test, mean):
    """One step ahead by `score`; hidden channels from the activations that `apply` finds."""
    work("score", model, "test.npy", "--out", f"{model}.csv")
    ahead = np.loadtxt(work.path / f"{model}.csv").sum() / test.size
    work("apply", model, "seen.npy", "--out", f"{model}.npy")
    intensity = work.load(f"{model}.npy") @ work.basis(model)[HIDDEN].T
    return ahead, nats(test[:, HIDDEN], mixed(intensity, mean[HIDDEN], LEAST))


def one_set(workshop, example, prior, lengths, seed):
    work = workshop.folder(f"prediction/{example}-{seed}")
    work("simulate", *prior, "--channels", M, "--components", K, "--length", sum(lengths), "--seed",
         seed, "--out", "counts.npy", "--save-basis", "truth.npy")
    counts = work.load("counts.npy").astype(float)
    train, test = counts[:lengths[0]], counts[lengths[0]:]
    seen = test.copy()
    seen[:, HIDDEN] = np.nan
    for name, record in ("train", train), ("test", test), ("seen", seen):
        work.save(f"{name}.npy", record)
    work("fit", "train.npy", "--components", K, *prior[:2], "--seed", seed + 100, "--out", "ours.h5")
    held = [word for setting in prior[3::2] for word in ("--hold", setting.split("=")[0])]
    work("fit", "train.npy", "--components", K, *prior, *held, "--hold", "basis", "--init",
         "truth.npy", "--out", "truth.h5")
    mean = train.mean(axis=0)
    scores = {"headwater": our_scores(work, "ours.h5", test, mean),
              "the true model": our_scores(work, "truth.h5", test, mean)}
    for peer in "NMF", "MiniBatchNMF":
        scores |= peer_scores(peer, train, test)
    scores["the mean of each channel"] = (nats(test, mean), nats(test[:, HIDDEN], mean[HIDDEN]))
    return scores, work.lines


def rows_of(sets):
    ours = np.array([scores["headwater"] for scores in sets])
    rows = []
    for name in sets[0]:
        values = np.array([scores[name] for scores in sets])
        cells = [name]
        for column in 0, 1:
            gain = ours[:, column] - values[:, column]
            cells += [f"{values[:, column].mean():.3f} ± {values[:, column].std(ddof=1):.3f}",
                      "" if name == "headwater" else
                      f"{gain.mean():.3f} ({gain.min():.3f} to {gain.max():.3f})"]
        rows.append(cells)
    return rows


def run(workshop):
    lengths, sets = workshop.size(((20_000, 5_000), 5), ((1_000, 250), 2))
    parts = []
    for example, prior in ("Example 1", EXAMPLE1), ("Example 2", EXAMPLE2):
        folder = example.lower().replace(" ", "")
        found = workshop.map(lambda seed: one_set(workshop, folder, prior, lengths, seed),
                             range(1, sets + 1))
        parts += [f"{example}:",
                  table(["predictor", "one step ahead", "ours better by", "hidden channels",
                         "ours better by"], rows_of([scores for scores, _ in found])),
                  commands(found[0][1])]
    return section(
        "Prediction beside classical factorisation",
        f"Mean log-probability of a count, in nats. {sets} streams, each with {lengths[0]:,} "
        f"observations to learn from and {lengths[1]:,} to predict (seeds 1 to {sets}). ± is the "
        "standard deviation over streams; brackets are the range. The commands below are those of "
        "seed 1; `./dev reproduce prediction` runs all.\n\n"
        "**One step ahead.** For headwater this is log p(y_t | y_1..t-1), as `headwater score` "
        "prints it. scikit-learn's NMF and MiniBatchNMF (Kullback-Leibler loss) predict y_t with the "
        "activation that they find for y_t-1. Their intensities are mixed with "
        f"{LEAST:.0%} of the channel's mean, since an intensity of zero would cost infinity. In the "
        "rows \"tuned\", the share of the mean is the one that predicts the end of the training data "
        "best.\n\n"
        "**Hidden channels.** Every second channel is missing from the data to predict. All methods "
        "put an estimate of x_t into the Poisson law; headwater's is E[x_t | channels seen up to t], "
        f"from `headwater apply`. Intensities are mixed with {LEAST:.0%} of the mean.", *parts)
