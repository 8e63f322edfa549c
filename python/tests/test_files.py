import copy
import pickle

import numpy as np
import pytest

import headwater


@pytest.fixture
def stream(simulation):
    return headwater.Stream(5, init="random").update_many(simulation.observations[:500])


def test_a_model_comes_back(stream, tmp_path):
    stream.save(tmp_path / "model.h5")
    model = headwater.Model.load(tmp_path / "model.h5")
    ended = stream.ended()
    np.testing.assert_array_equal(model.basis, ended.basis)
    np.testing.assert_array_equal(model.last_basis, ended.last_basis)
    assert model.parameters == ended.parameters and model.options == ended.options
    assert (model.prior, model.engine, model.method) == ("basis-selection", "exact", "online")
    assert (model.num_channels, model.num_components, model.observations) == (8, 5, 500)
    trace = model.trace()
    assert {"t", "log_likelihood", "stay_off", "basis_1_1", "basis_8_5"} <= set(trace)
    assert trace["t"][-1] == 500 and trace["log_likelihood"][-1] == model.log_likelihood


def test_a_model_can_be_pickled(stream):
    model = stream.ended()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.basis, model.basis)
    assert repr(again) == repr(model)


def test_copies_go_on_by_themselves(stream, simulation):
    rest = simulation.observations[500:900]
    before = stream.basis
    copies = [stream.copy(), copy.copy(stream), copy.deepcopy(stream)]
    for one in copies:
        one.update_many(rest)
    np.testing.assert_array_equal(stream.basis, before)
    stream.update_many(rest)
    for one in copies:
        np.testing.assert_array_equal(one.basis, stream.basis)


def test_what_files_cannot_do_is_an_os_error(stream, tmp_path):
    with pytest.raises(FileNotFoundError):
        headwater.Model.load(tmp_path / "nowhere.h5")
    with pytest.raises(OSError, match="no_folder"):
        stream.save(tmp_path / "no_folder" / "model.h5")


def test_what_is_no_model_is_a_value_error(tmp_path):
    (tmp_path / "text.h5").write_text("words")
    with pytest.raises(ValueError, match="text.h5"):
        headwater.Model.load(tmp_path / "text.h5")


def test_data_that_do_not_fit_a_model_are_named(stream):
    model = stream.ended()
    with pytest.raises(ValueError, match="Y has 7 channels; the model has 8"):
        model.apply(np.ones((2, 7)))
    with pytest.raises(ValueError, match="Y: rows 0 to 1 .* negative"):
        model.score(-np.ones((2, 8)))
    with pytest.raises(ValueError, match="Y has no rows"):
        model.predict(np.ones((0, 8)))
    with pytest.raises(ValueError, match="no option 'particles'"):
        model.apply(np.ones((2, 8)), particles=3)


def test_rows_alone_are_first_observations(stream, simulation):
    model, Y = stream.ended(), simulation.observations[:20]
    alone = model.apply(Y, sequence=False)
    for i in range(20):
        np.testing.assert_array_equal(alone[i], model.apply(Y[i:i + 1])[0])


def test_forecasts_of_a_model(stream, simulation):
    model, Y = stream.ended(), simulation.observations[:50]
    forecast = model.forecast(Y, 3)
    np.testing.assert_allclose(forecast[0], model.predict(np.vstack([Y, Y[:1]]))[-1], rtol=1e-12)
