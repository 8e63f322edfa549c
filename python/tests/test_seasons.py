"""Seasons: periods as numbers or lists, profiles, phases."""

import numpy as np
import pytest

import headwater


@pytest.fixture(scope="module")
def seasonal():
    """Three sources that are nearly always on, with a period of 6; counts and the true profile."""
    rng = np.random.default_rng(1)
    angles = 2 * np.pi * (np.arange(6) / 6 + np.arange(3)[:, None] / 3)
    profile = 1 + 0.8 * np.sin(angles)
    basis = rng.uniform(0, 10, (5, 3))
    on = rng.uniform(size=(3000, 3)) < 0.6
    gains = profile[:, np.arange(3000) % 6].T
    return rng.poisson((on * gains) @ basis.T), profile


@pytest.fixture(scope="module")
def model(seasonal):
    stream = headwater.Stream(3, prior="basis-selection", period=6, counts="poisson")
    stream.update_many(seasonal[0])
    return stream.finish().model()


def test_the_profile_is_found(seasonal, model):
    found = model.periods[6]
    assert found.shape == (3, 6)
    np.testing.assert_allclose(found.mean(axis=1), 1)
    # 3,000 observations of some 30 counts: a gain is known to a few per cent.
    distances = [np.abs(found - row).max(axis=1).min() for row in seasonal[1]]
    assert max(distances) < 0.15


def test_a_list_is_the_same(seasonal, model):
    stream = headwater.Stream(3, prior="basis-selection", period=[6], counts="poisson")
    stream.update_many(seasonal[0])
    np.testing.assert_array_equal(stream.finish().model().periods[6], model.periods[6])


def test_the_phase_matters(seasonal, model, tmp_path):
    tail = seasonal[0][2000:]  # 2000 = 2 mod 6
    right = model.score(tail, phase=2).log_likelihood
    assert right > model.score(tail, phase=5).log_likelihood + 1000
    model.save(tmp_path / "m.h5")
    loaded = headwater.Model.load(tmp_path / "m.h5")
    assert loaded.score(tail, phase=2).log_likelihood == right
    assert model.apply(tail, phase=2, smooth=True).shape == (1000, 3)


def test_a_forecast_knows_the_season(seasonal, model):
    ahead = model.forecast(seasonal[0], 12)
    np.testing.assert_allclose(ahead[6:9], ahead[:3], rtol=0.2)
    assert ahead[:6].sum(axis=1).std() > 0


def test_what_is_no_period():
    for period in (1, "often", 2.5, [6, -1]):
        with pytest.raises(ValueError, match="period"):
            headwater.Stream(3, period=period)


def test_profiles_are_drawn(model):
    plot = pytest.importorskip("headwater.plot")
    axes = plot.profile(model)
    assert len(axes.get_legend().get_texts()) == 3
    with pytest.raises(ValueError, match="period=7"):
        plot.profile(model, period=7)


def test_channels_have_gains_of_their_own(model):
    assert model.channel_periods == {}  # what the components' profiles say is all there is
    rng = np.random.default_rng(2)
    timetables = np.full((8, 6), 0.5)
    timetables[np.arange(8), np.arange(8) % 6] = 3.5
    counts = rng.poisson(4 * timetables[:, np.arange(3000) % 6].T)
    stream = headwater.Stream(1, prior="gamma", engine="fast", period=6, counts="poisson")
    stream.update_many(counts)
    found = stream.finish().model()
    gains = found.channel_periods[6]
    assert gains.shape == (8, 6)
    # 500 visits of 2 counts at least: 3 % a gain.
    season = gains * found.periods[6]
    np.testing.assert_allclose(season / season.mean(axis=1, keepdims=True), timetables, rtol=0.2)
    ahead = found.forecast(counts, 6)
    np.testing.assert_allclose(ahead, 4 * timetables.T, rtol=0.4)
