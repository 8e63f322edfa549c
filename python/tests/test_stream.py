import numpy as np
import pytest

import headwater


def test_finds_the_sources(simulation):
    Y, _, truth = headwater.simulate("basis-selection", channels=8, components=3, length=20000,
                                     seed=5)
    stream = headwater.Stream(3).update_many(Y).finish()
    cost = ((truth[:, :, None] - stream.basis[:, None, :]) ** 2).sum(axis=0)
    order = cost.argmin(axis=1)
    assert sorted(order) == [0, 1, 2]
    error = np.linalg.norm(stream.basis[:, order] - truth) / np.linalg.norm(truth)
    assert error < 0.05
    assert set(stream.parameters) == {"stay_off", "stay_on"}


def test_nothing_before_the_first_observation_and_all_after():
    Y = headwater.simulate(channels=4, components=2, length=1200, seed=1).observations
    stream = headwater.Stream(2)
    assert not stream.has_started and stream.last_step is None and stream.surprise is None
    with pytest.raises(ValueError, match="no observation"):
        stream.basis
    logarithms = 0
    for t, y in enumerate(Y[:60], start=1):
        stream.update(y)
        assert stream.has_started and stream.last_step["t"] == t
        assert stream.last_step["provisional"] == (t <= 50) and stream.last_step["in_start"]
        assert stream.basis.shape == (4, 2) and stream.activation.shape == (2,)
        assert stream.forecast(3).shape == (3, 4)
        assert 0 < stream.surprise.tail_probability <= 1
        logarithms += stream.last_step["log_predictive"]
    assert stream.log_likelihood == pytest.approx(logarithms, rel=1e-12)
    stream.update_many(Y[60:])
    report = stream.last_step
    assert report["t"] == 1200 and not report["in_start"]
    assert {"log_predictive", "step", "updated", "impossible"} <= set(report)


def test_batch_keeps_everything(counts):
    stream = headwater.Stream(2, method="batch").update_many(counts)
    assert not stream.has_started
    kept = f"batch EM keeps all observations, {len(counts)} so far"
    with pytest.raises(ValueError, match=kept):
        stream.basis


def test_reports_of_particles_have_their_fields():
    stream = headwater.Stream(2, engine="particle", num_particles=50, init=np.ones((3, 2)))
    stream.update([1, 2, 3])
    assert 1 <= stream.last_step["ess"] <= 50
    assert stream.last_step["unique_ancestors"] == 50 and stream.last_step["resampled"] is False


def test_ended_is_finished_while_the_stream_goes_on(simulation):
    Y = simulation.observations
    stream = headwater.Stream(5).update_many(Y[:1500])
    ended = stream.ended()
    finished = headwater.Stream(5).update_many(Y[:1500]).finish()
    np.testing.assert_array_equal(ended.basis, finished.basis)
    stream.update_many(Y[1500:2000])
    whole = headwater.Stream(5).update_many(Y[:2000])
    np.testing.assert_array_equal(stream.basis, whole.basis)


def test_nothing_follows_the_end(counts):
    stream = headwater.Stream(2, init="random").update_many(counts)
    with pytest.warns(headwater.ConvergenceWarning, match="M-steps"):
        stream.finish()
    with pytest.raises(ValueError, match="finished"):
        stream.update(counts[0])


def test_batch(counts):
    stream = headwater.Stream(2, method="batch", iterations=3, tolerance=0).update_many(counts)
    with pytest.warns(headwater.ConvergenceWarning, match="limit of 3 iterations"):
        stream.finish()
    assert stream.model().iterations == 3 and stream.model().method == "batch"


def test_forecasts_approach_what_is_to_be_expected():
    basis = np.array([[5.0, 1], [2, 3], [1, 6]])
    prior = {"stay_off": 0.9, "stay_on": 0.7}
    stream = headwater.Stream(2, set=prior, hold=["basis", "stay_off", "stay_on"], init=basis)
    stream.update_many([[4, 2, 1], [6, 4, 5.0]])
    forecast = stream.forecast(100)
    assert forecast.shape == (100, 3)
    on = stream.activation * 0.7 + (1 - stream.activation) * 0.1
    np.testing.assert_allclose(forecast[0], basis @ on, rtol=1e-12)
    np.testing.assert_allclose(forecast[-1], basis @ [0.25, 0.25], rtol=1e-9)
    with pytest.raises(ValueError, match="horizon"):
        stream.forecast(0)


def test_forecasts_have_quantiles_and_totals(command, tmp_path):
    Y = headwater.simulate(channels=3, components=2, length=400, seed=1).observations
    stream = headwater.Stream(2, init="random").update_many(Y)
    ahead = stream.forecast(4, quantiles=[0.05, 0.5, 0.95], total=True, draws=500)
    assert ahead.mean.shape == (4, 4) and ahead.quantiles.shape == (4, 4, 3)
    assert ahead.levels == (0.05, 0.5, 0.95)
    np.testing.assert_allclose(ahead.mean[:, 3], ahead.mean[:, :3].sum(axis=1), rtol=1e-12)
    assert (np.diff(ahead.quantiles, axis=2) >= 0).all()
    np.testing.assert_array_equal(stream.forecast(4, total=True), ahead.mean)
    with pytest.raises(ValueError, match="above 0 and below 1"):
        stream.forecast(4, quantiles=[0.5, 1])
    np.save(tmp_path / "Y.npy", Y)
    stream.save(tmp_path / "model.h5")
    command("forecast", "model.h5", "Y.npy", "--horizon", 3, "--quantiles", "0.1,0.9", "--out",
            "f.npy")
    same = headwater.Model.load(tmp_path / "model.h5").forecast(Y, 3, quantiles=[0.1, 0.9])
    table = np.load(tmp_path / "f.npy").reshape(3, 3, 3)
    np.testing.assert_array_equal(table[:, :, 0], same.mean)
    np.testing.assert_array_equal(table[:, :, 1:], same.quantiles)


def test_a_forecast_of_a_scaled_prior_is_in_counts():
    """Where the prior has a scale of its own inside, forecasts and activations do not show it."""
    Y, X, basis = headwater.simulate("gamma", set={"shape": 3.0, "persistence": 0.5}, channels=3,
                                     components=1, scale=400, length=3000, seed=2)
    stream = headwater.Stream(1, "gamma", init=basis * 3, num_particles=300)
    stream.update_many(Y)
    far = stream.forecast(60)[-10:].mean(axis=0)
    np.testing.assert_allclose(far, Y.mean(axis=0), rtol=0.2)
    np.testing.assert_allclose(stream.activation * stream.model().last_basis.sum(), Y[-1].sum(),
                               rtol=0.2)


def test_background(simulation):
    stream = headwater.Stream(2, background=True, init="random")
    stream.update_many(simulation.observations[:300])
    assert stream.background.shape == (8,) and stream.basis.shape == (8, 2)
    assert headwater.Stream(2, init="random").update_many(
        simulation.observations[:300]).background is None


@pytest.mark.parametrize("options, message", [
    (dict(), "num_components is missing"),
    (dict(num_components=0), "components"),
    (dict(num_components=2, prior="guess"), "unknown prior 'guess'"),
    (dict(num_components=2, set={"alpha": 1}), "no parameter 'alpha'"),
    (dict(num_components=2, set={"stay_off": "x"}), r"set\['stay_off'\]"),
    (dict(num_components=2, smoother="guess"), "smoother='guess': expected one of auto, path"),
    (dict(num_components=2, lag=1.5), "lag=1.5: expected a whole number"),
    (dict(num_components=2, seed=-1), "seed=-1: expected a whole number from 0 to"),
    (dict(num_components=2, background="no"), "background='no': expected True or False"),
    (dict(num_components=2, init="nowhere"), "init='nowhere': expected one of auto, random"),
    (dict(num_components=2, init=np.ones(3)), "init has 1 dimension"),
    (dict(num_components=2, hold="basis"), "hold='basis': expected a list"),
    (dict(num_components=2, hold=["alpha"]), "'alpha'"),
    (dict(num_components=2, step="often"), "step"),
    (dict(num_components=2, restarts=0), "restarts=0"),
    (dict(num_components=2, num_particles=0), "particles"),
])
def test_errors_name_the_option(options, message):
    with pytest.raises(ValueError, match=message):
        headwater.Stream(**options)


def test_numbers_of_numpy_will_do(counts):
    stream = headwater.Stream(np.int64(2), lag=np.int32(3), tolerance=np.float32(0.25),
                              seed=np.uint64(4), init="random", restarts=np.int64(2))
    assert stream.update_many(counts).ended().options["lag"] == "3"


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="particles"):
        headwater.Stream(2, particles=3)


@pytest.mark.parametrize("engine, prior, fields", [
    ("particle", "gamma", {"ess", "resampled", "guided", "bridge_stages", "unique_ancestors"}),
    ("beam", "basis-selection", {"ess", "states", "lost_mass"}),
    ("exact", "basis-selection", set()),
])
def test_reports_have_the_fields_of_the_log(engine, prior, fields):
    Y = headwater.simulate(prior, channels=4, components=2, length=150, seed=1).observations
    stream = headwater.Stream(2, prior=prior, engine=engine, init="random", num_particles=50)
    stream.update_many(Y)
    common = {"t", "log_predictive", "step", "updated", "impossible", "in_start", "provisional",
              "outlier"}
    assert set(stream.last_step) - {"revived"} == common | fields


def test_a_sparse_matrix_gives_the_same_bytes_as_a_dense_one():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    Y = headwater.simulate(channels=30, components=2, length=1200, seed=1, scale=0.3).observations
    dense = headwater.Stream(2).update_many(Y)
    for form in scipy_sparse.csr_matrix, scipy_sparse.coo_matrix:
        sparse = headwater.Stream(2).update_many(form(Y))
        assert np.array_equal(sparse.basis, dense.basis)
        assert sparse.log_likelihood == dense.log_likelihood
