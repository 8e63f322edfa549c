"""Standard errors of streams and models."""

import numpy as np

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
