"""Streams that continue a model."""

import pickle

import numpy as np
import pytest

import headwater

ROWS, HALF = 600, 350


@pytest.fixture(scope="module")
def rows():
    return headwater.simulate(channels=4, components=2, length=ROWS, seed=3).observations


@pytest.fixture
def path(rows, tmp_path):
    name = tmp_path / "model.h5"
    headwater.Stream(2).update_many(rows[:HALF]).save(name)
    return name


def test_a_model_file_is_loaded_and_goes_on(rows, path):
    stream = headwater.Stream.load(path)
    before = stream.log_likelihood
    assert stream.observations == HALF and stream.has_started
    stream.update_many(rows[HALF:])
    assert stream.observations == ROWS and stream.log_likelihood < before
    assert stream.last_step["t"] == ROWS
    model = stream.ended()
    assert model.observations == ROWS
    directly = headwater.Stream.continued(headwater.Model.load(path)).update_many(rows[HALF:])
    np.testing.assert_array_equal(directly.ended().basis, model.basis)


def test_rows_that_do_not_follow_on_and_forgetting(rows, path):
    def first_report(**how):
        stream = headwater.Stream.load(path, **how)
        stream.update(rows[HALF].astype(float))
        return stream.last_step

    plain = first_report()
    assert first_report(follows_on=False)["log_predictive"] != plain["log_predictive"]
    assert first_report(forget=20)["step"] > 5 * plain["step"]
    assert first_report(step="constant:0.25")["step"] == 0.25


def test_what_the_model_is_cannot_be_changed(path):
    with pytest.raises(ValueError, match="counts is drifting; the model that is continued has"):
        headwater.Stream.load(path, counts="drifting")
    with pytest.raises(TypeError, match="unexpected keyword"):
        headwater.Stream.load(path, guess=1)
    with pytest.raises(TypeError, match="contains its options"):
        headwater.Stream.load(path, 2)


def test_a_continued_stream_can_be_pickled_and_copied(rows, path):
    stream = headwater.Stream.load(path).update_many(rows[HALF:500])
    copies = [pickle.loads(pickle.dumps(stream)), stream.copy()]
    stream.update_many(rows[500:])
    for copy in copies:
        copy.update_many(rows[500:])
        np.testing.assert_array_equal(copy.ended().basis, stream.ended().basis)
