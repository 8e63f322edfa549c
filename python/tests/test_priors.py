import pickle

import numpy as np
import pytest

import headwater
from own_priors import LogWalk, OnOff


def test_they_conform():
    assert headwater.check_prior(LogWalk(2), num_draws=4000) == []
    assert headwater.check_prior(OnOff(2), num_draws=4000) == []


class Drifting(LogWalk):
    def sample_initial(self, random, n):
        return 3 + random.normal(self.state_size)


class Negative(LogWalk):
    def activations(self, states):
        return states


def test_what_is_wrong_is_found():
    assert headwater.check_prior(Drifting(2), num_draws=4000)
    assert headwater.check_prior(Negative(2), num_draws=4000)


def test_a_finite_chain_in_python_is_the_one_in_cpp(simulation):
    Y = simulation.observations[:1500]
    ours = headwater.Stream(5, init="random").update_many(Y).finish()
    own = headwater.Stream(prior=OnOff(5), init="random").update_many(Y).finish()
    np.testing.assert_allclose(own.basis, ours.basis, rtol=1e-6)
    for name, value in ours.parameters.items():
        assert own.parameters[name] == pytest.approx(value, rel=1e-6)


def test_particles_of_a_prior_in_python_learn_it():
    Y, _, basis = headwater.simulate(LogWalk(1, 0.8, 0.5), basis=[[30.0], [10.0]], length=3000,
                                     seed=2)
    prior = LogWalk(1, 0.5, 0.3)
    stream = headwater.Stream(prior=prior, init=basis, hold=["basis"], num_particles=200)
    stream.update_many(Y).finish()
    # 3,000 steps: standard errors near .01 for either, and the bias of 200 particles.
    assert stream.parameters["persistence"] == pytest.approx(0.8, abs=0.07)
    assert stream.parameters["noise"] == pytest.approx(0.5, abs=0.07)
    assert (prior.persistence, prior.noise) == (0.5, 0.3)


def test_threads_change_no_bit(simulation):
    def basis(threads):
        stream = headwater.Stream(prior=LogWalk(2), num_particles=1200, num_threads=threads,
                                  init=np.ones((8, 2)))
        return stream.update_many(simulation.observations[:150]).basis
    np.testing.assert_array_equal(basis(1), basis(2))


def test_a_model_of_it_comes_back(simulation, tmp_path):
    Y = simulation.observations[:300]
    stream = headwater.Stream(prior=OnOff(2), init="random").update_many(Y)
    stream.save(tmp_path / "own.h5")
    with pytest.raises(ValueError, match="on-off"):
        headwater.Model.load(tmp_path / "own.h5")
    model = headwater.Model.load(tmp_path / "own.h5", OnOff(2))
    assert model.parameters == stream.ended().parameters
    again = pickle.loads(pickle.dumps(model))
    assert again.parameters == model.parameters


def test_a_stream_of_it_can_be_pickled(simulation):
    Y = simulation.observations[:400]
    stream = headwater.Stream(prior=LogWalk(2), num_particles=50, init=np.ones((8, 2)))
    stream.update_many(Y[:300])
    again = pickle.loads(pickle.dumps(stream))
    for one in (stream, again):
        one.update_many(Y[300:])
    np.testing.assert_array_equal(again.basis, stream.basis)
    assert again.parameters == stream.parameters
    with pytest.raises(ValueError, match="names its prior"):
        stream.save_checkpoint("nowhere")


class Broken(LogWalk):
    def sample_transition(self, random, states):
        raise RuntimeError("broken on purpose")


class WrongShape(LogWalk):
    def activations(self, states):
        return np.exp(states)[:, 0]


class WithoutMoves:
    num_components = state_size = 1

    def sample_initial(self, random, n):
        return random.uniform(1)

    def activations(self, states):
        return states


@pytest.mark.parametrize("prior, error, message", [
    (Broken(2), RuntimeError, "broken on purpose"),
    (WrongShape(2), ValueError, r"'log-walk': activations returned an array of shape \(.*\)"),
    (WithoutMoves(), ValueError, "lacks a method: sample_transition"),
    (object(), ValueError, "lacks a method: sample_initial"),
])
def test_errors_come_through(prior, error, message):
    with pytest.raises(error, match=message):
        stream = headwater.Stream(prior=prior, init=np.ones((2, 2)), num_particles=10)
        stream.update_many(np.ones((3, 2)))


def test_random_numbers_follow_their_laws():
    class Draws(LogWalk):
        def sample_initial(self, random, n):
            assert len(random) == n
            self.drawn = [random.uniform(3), random.exponential(1), random.normal(2),
                          random.gamma(np.full((n, 1), 2.5)), random.poisson(np.full((n, 1), 4.0))]
            kept.append(self.drawn)
            return super().sample_initial(random, n)
    kept = []
    headwater.Stream(prior=Draws(1), init=np.ones((1, 1)), num_particles=20000).update([1.0])
    means = [np.concatenate([draws[i] for draws in kept]).mean() for i in range(5)]
    # Standard errors of means of 20,000 or more are below .015; 6 of them are .09.
    np.testing.assert_allclose(means, [0.5, 1, 0, 2.5, 4], atol=0.09)


def test_priors_are_listed():
    priors = headwater.list_priors()
    assert "stay_off" in priors["basis-selection"][1]
