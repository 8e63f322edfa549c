import numpy as np
import pytest

import headwater

pytest.importorskip("matplotlib")
import matplotlib.pyplot as plt

from headwater import plot


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def stream():
    Y = headwater.simulate(channels=4, components=2, length=1500, seed=1).observations
    return headwater.Stream(2, background=True).update_many(Y)


def drawn(ax):
    ax.figure.canvas.draw()


def test_basis(stream):
    ax = plot.basis(stream, channels=list("abcd"))
    drawn(ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == list("abcd")
    np.testing.assert_array_equal(ax.images[0].get_array(), stream.basis)
    given = plt.subplots()[1]
    assert plot.basis(stream.basis, ax=given) is given


def test_the_basis_with_its_standard_errors():
    Y, _, truth = headwater.simulate(channels=4, components=2, length=1500, seed=1)
    stream = headwater.Stream(2, standard_errors=True, start_on=300).update_many(Y)
    with pytest.raises(ValueError, match="no standard errors"):
        plot.basis(headwater.Stream(2).update_many(Y), errors=True)
    with pytest.raises(ValueError, match="errors=True"):
        plot.basis(stream, truth=truth)
    for fit in stream, stream.ended():
        axes = plot.basis(fit, errors=True, truth=truth, channels=list("abcd"))
        drawn(axes[0])
        assert [label.get_text() for label in axes[-1].get_xticklabels()] == list("abcd")
        order = ((truth[:, :, None] - fit.basis[:, None, :]) ** 2).sum(axis=0).argmin(axis=1)
        for k, ax in enumerate(axes):
            values, error = fit.basis[:, order[k]], fit.standard_errors.basis[:, order[k]]
            np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], values)
            whiskers = np.array([[line[0][1], line[1][1]] for line in
                                 ax.collections[0].get_segments()])
            np.testing.assert_allclose(whiskers[:, 1], values + 2 * error)
            np.testing.assert_allclose(whiskers[:, 0], np.maximum(values - 2 * error, 0),
                                       atol=1e-12)
    given = plt.subplots(2, 1)[1]
    assert plot.basis(stream, errors=True, axes=given)[1] is given[1]


def test_traces_are_the_papers_grid(stream):
    truth = stream.basis[:, ::-1]
    axes = plot.traces(stream, truth=truth)
    drawn(axes[0, 0])
    assert axes.shape == (4, 2)
    line, true = axes[2, 1].lines
    np.testing.assert_array_equal(line.get_ydata(), stream.model().trace()["basis_3_1"])
    assert true.get_ydata()[0] == truth[2, 1]
    given = plt.subplots(1, 2)[1]
    assert plot.traces(stream, channels=[3], axes=given, last=True).shape == (1, 2)
    with pytest.raises(ValueError, match="truth has shape"):
        plot.traces(stream, truth=np.ones((3, 2)))


def test_activations():
    x = np.random.default_rng(1).random((30, 3))
    axes = plot.activations(x, truth=x > 0.5)
    drawn(axes[0])
    assert len(axes) == 3
    np.testing.assert_array_equal(axes[1].lines[0].get_ydata(), x[:, 1])
    with pytest.raises(ValueError, match="x has 1 dimensions"):
        plot.activations(x[:, 0])


def test_diagnostics(stream):
    axes = plot.diagnostics(stream)
    drawn(axes[0])
    assert [line.get_label() for line in axes[1].lines] == ["stay_off", "stay_on"]
    batch = headwater.Stream(2, method="batch", iterations=3, tolerance=0, init="random")
    with pytest.warns(headwater.ConvergenceWarning):
        batch.update_many(np.random.default_rng(1).poisson(3, (40, 3))).finish()
    assert plot.diagnostics(batch)[-1].get_xlabel() == "iteration"


def test_an_estimator_will_do(stream):
    Y = headwater.simulate(channels=4, components=2, length=1500, seed=1).observations
    plot.basis(headwater.OnlineNMF(2, random_state=1).fit(Y))
    with pytest.raises(ValueError, match="found int"):
        plot.traces(3)


def test_forecast_has_bands_between_its_quantiles(stream):
    ahead = stream.forecast(5, quantiles=[0.95, 0.25, 0.5, 0.05, 0.75], total=True)
    axes = plot.forecast(ahead, seen=np.ones((7, 4)), names=list("abcd") + ["total"])
    drawn(axes[0])
    assert axes.shape == (5,)
    widest, inner = axes[2].collections
    assert widest.get_paths()[0].get_extents().ymax == ahead.quantiles[:, 2, 0].max()
    assert inner.get_paths()[0].get_extents().ymax == ahead.quantiles[:, 2, 4].max()
    past, median, mean = axes[2].lines
    assert past.get_xdata()[-1] == 0 and len(past.get_xdata()) == 7
    np.testing.assert_array_equal(median.get_ydata(), ahead.quantiles[:, 2, 2])
    np.testing.assert_array_equal(mean.get_ydata(), ahead.mean[:, 2])
    assert len(axes[4].lines) == 2  # nothing was seen of the total
    assert plot.forecast(ahead, channels=[1], axes=plt.subplots()[1]).shape == (1,)


def test_calibration_and_surprise():
    Y = headwater.simulate(channels=3, components=2, length=200, seed=2).observations
    model = headwater.Stream(2).update_many(Y).ended()
    score = model.score(Y, surprise=True)
    axes = plot.calibration(score)
    drawn(axes[0])
    assert sum(bar.get_height() for bar in axes[0].patches) == 200
    curve = axes[1].lines[1]
    np.testing.assert_array_equal(curve.get_xdata(), np.sort(score.tail_probability))
    given = plt.subplots(1, 2)[1]
    assert plot.calibration(score.tail_probability, axes=given)[0] is given[0]
    with pytest.raises(ValueError, match="score with surprise=True"):
        plot.calibration(model.score(Y))
    with pytest.raises(ValueError, match="between 0 and 1"):
        plot.calibration([2.0])

    ax = plot.surprise(score, below=0.2)
    drawn(ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), -score.log_predictive)
    assert len(ax.lines[1].get_xdata()) == (score.tail_probability < 0.2).sum()
    assert len(plot.surprise(model.score(Y)).lines) == 1
    impossible = score._replace(log_predictive=np.where(np.arange(200) == 7, -np.inf,
                                                        score.log_predictive))
    assert 8 in plot.surprise(impossible).lines[1].get_xdata()
    with pytest.raises(ValueError, match="times has 3 values"):
        plot.surprise(score, times=[1, 2, 3])
