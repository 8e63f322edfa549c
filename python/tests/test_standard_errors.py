"""Standard errors of streams and models."""

import numpy as np
import pytest

import headwater


def counts(length=1500):
    basis = np.array([[8, 1], [2, 7], [6, 3], [1, 9.0]])
    return headwater.simulate("basis-selection", basis=basis, length=length, seed=3).observations


def test_of_a_stream_and_of_its_model(tmp_path):
    y = counts()
    stream = headwater.Stream(num_components=2, prior="basis-selection", standard_errors=True,
                              counts="poisson", background=True)
    stream.update_many(y)
    so_far = stream.standard_errors
    assert so_far.basis.shape == (4, 2) and so_far.background.shape == (4,)
    assert (so_far.basis > 0).all() and (so_far.plain_basis > 0).all()
    stream.finish()
    errors = stream.standard_errors
    assert set(errors.parameters) == set(errors.plain_parameters) == {"stay_off", "stay_on"}
    assert errors.information == "full"
    stream.save(tmp_path / "model.h5")
    loaded = headwater.Model.load(tmp_path / "model.h5").standard_errors
    assert np.array_equal(loaded.basis, errors.basis)
    assert np.array_equal(loaded.background, errors.background)
    assert loaded.parameters == errors.parameters


def test_there_are_none_unless_asked_for():
    stream = headwater.Stream(num_components=2, prior="basis-selection", counts="poisson")
    stream.update_many(counts(200))
    assert stream.standard_errors is None
    assert stream.model().standard_errors is None


def test_too_few_observations_have_none():
    stream = headwater.Stream(num_components=2, prior="basis-selection", counts="poisson",
                              standard_errors=True)
    stream.update_many(counts(30))
    assert stream.standard_errors is None


def test_profiles_have_them_and_are_drawn_with_them(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from headwater import plot
    profile = np.array([[1.6, 1.0, 0.4], [0.7, 0.8, 1.5]])
    rng = np.random.default_rng(3)
    on = rng.random((1500, 2)) < 0.5
    basis = np.array([[8, 1], [2, 7], [6, 3], [1, 9.0]])
    y = rng.poisson((on * profile[:, np.arange(1500) % 3].T) @ basis.T)
    stream = headwater.Stream(num_components=2, prior="basis-selection", counts="poisson", period=3,
                              standard_errors=True)
    stream.update_many(y)
    stream.finish()
    model = stream.model()
    errors = model.standard_errors
    assert set(errors.periods) == set(errors.plain_periods) == {3}
    assert errors.periods[3].shape == (2, 3)
    assert (errors.periods[3] > 0).all() and (errors.plain_periods[3] > 0).all()
    model.save(tmp_path / "model.h5")
    loaded = headwater.Model.load(tmp_path / "model.h5")
    assert np.array_equal(loaded.standard_errors.periods[3], errors.periods[3])
    axes = plot.profile(loaded)
    assert len(axes.containers) == 2  # bars of two components
    low, high = axes.containers[0].lines[2][0].get_segments()[0][:, 1]
    gain = loaded.periods[3][0, 0]
    assert high == pytest.approx(gain + 2 * errors.periods[3][0, 0])
    assert low == pytest.approx(max(gain - 2 * errors.periods[3][0, 0], 0))
    assert len(plot.profile(loaded, errors=False).containers) == 0
    without = headwater.Stream(num_components=2, prior="basis-selection", counts="poisson", period=3)
    without.update_many(y)
    assert len(plot.profile(without.model()).containers) == 0
    with pytest.raises(ValueError, match="no standard errors of this profile"):
        plot.profile(without.model(), errors=True)
