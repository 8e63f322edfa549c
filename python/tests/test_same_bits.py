"""Same data, options and seed give the same bits as the command."""

import json

import numpy as np
import pytest

import headwater

FITS = {
    "exact": (dict(), []),
    "particles": (dict(engine="particle", num_particles=300, num_threads=2),
                  ["--engine", "particle", "--particles", 300]),
    "relaxed": (dict(prior="relaxed-selection", num_particles=200, init="random",
                     set={"alpha": 0.9}),
                ["--prior", "relaxed-selection", "--particles", 200, "--init", "random",
                 "--set", "alpha=0.9"]),
    "gamma": (dict(prior="gamma", num_particles=200, init="random", resample_below=1.0),
              ["--prior", "gamma", "--particles", 200, "--init", "random",
               "--resample-below", 1]),
    "every option": (
        dict(background=True, per_component=True, set={"stay_off": [0.8, 0.9, 0.7, 0.6, 0.5]},
             hold=["stay_on"], smoother="forward", step="constant:0.01", burn_in=50,
             average="polyak", seed=7, trace_every=100, init="random", basis_rate=1e-5,
             basis_shape=1.0001, basis_floor=1e-9, transition_weight=1e-4),
        ["--background", "--per-component", "--set", "stay_off=0.8,0.9,0.7,0.6,0.5", "--hold",
         "stay_on", "--smoother", "forward", "--step", "constant:0.01", "--burn-in", 50,
         "--average", "polyak", "--seed", 7, "--trace-every", 100, "--init", "random",
         "--basis-rate", 1e-5, "--basis-shape", 1.0001, "--basis-floor", 1e-9,
         "--transition-weight", 1e-4]),
    "paris": (dict(engine="particle", num_particles=64, smoother="paris", backward="rejection",
                   backward_draws=3, lag=9, block=20, init="random", resampling="stratified"),
              ["--engine", "particle", "--particles", 64, "--smoother", "paris", "--backward",
               "rejection", "--backward-draws", 3, "--lag", 9, "--block", 20, "--init", "random",
               "--resampling", "stratified"]),
    "guided": (dict(engine="particle", num_particles=100, proposal="guided", init="random"),
               ["--engine", "particle", "--particles", 100, "--proposal", "guided", "--init",
                "random"]),
    "not guided": (dict(engine="particle", num_particles=100, proposal="prior", init="random"),
                   ["--engine", "particle", "--particles", 100, "--proposal", "prior", "--init",
                    "random"]),
    "beam": (dict(engine="beam", beam_width=12, init="random"),
             ["--engine", "beam", "--beam-width", 12, "--init", "random"]),
    "fast": (dict(prior="log-gaussian", engine="fast", init="random"),
             ["--prior", "log-gaussian", "--engine", "fast", "--init", "random"]),
    "paper": (dict(paper_exact=True, step="power:0.8", average="none"),
              ["--paper-exact", "--step", "power:0.8", "--average", "none"]),
    "batch": (dict(method="batch", iterations=20, tolerance=0),
              ["--method", "batch", "--iterations", 20, "--tolerance", 0]),
    "restarts": (dict(restarts=3, num_threads=2, init="random", window_tolerance=1e-4),
                 ["--restarts", 3, "--threads", 2, "--init", "random",
                  "--window-tolerance", 1e-4]),
}


@pytest.mark.filterwarnings("ignore::headwater.ConvergenceWarning")
@pytest.mark.parametrize("name", FITS)
def test_a_fit_is_the_commands(name, command, simulation, tmp_path):
    options, arguments = FITS[name]
    Y = simulation.observations[:1500]
    np.save(tmp_path / "counts.npy", Y)
    prior = [] if "--prior" in arguments else ["--prior", "basis-selection"]
    command("fit", "counts.npy", "--components", 5, *prior, *arguments, "--out", "theirs.h5",
            "--quiet")
    stream = headwater.Stream(5, **options).update_many(Y)
    stream.save(tmp_path / "before.h5")
    stream.finish()
    stream.save(tmp_path / "ours.h5")
    assert (tmp_path / "ours.h5").read_bytes() == (tmp_path / "theirs.h5").read_bytes()
    assert (tmp_path / "before.h5").read_bytes() == (tmp_path / "theirs.h5").read_bytes()


def test_defaults_are_the_commands(command, counts, tmp_path):
    np.save(tmp_path / "counts.npy", counts)
    command("fit", "counts.npy", "--components", 2, "--prior", "basis-selection", "--out",
            "theirs.h5", "--quiet")
    stream = headwater.Stream(2).update_many(counts)
    assert stream.ended().options == headwater.Model.load(tmp_path / "theirs.h5").options


def test_exposures_and_surprise_are_the_commands(command, simulation, tmp_path):
    Y = simulation.observations[:600]
    exposure = np.random.default_rng(1).choice([0.0, 0.5, 1, 2], Y.shape)
    np.save(tmp_path / "y.npy", Y)
    np.save(tmp_path / "e.npy", exposure)
    command("fit", "y.npy", "--exposure", "e.npy", "--components", 5, "--prior", "basis-selection",
            "--init", "random", "--out", "theirs.h5", "--log", "log.jsonl", "--surprise", "--quiet")
    stream = headwater.Stream(5, init="random").update_many(Y, exposure=exposure)
    stream.save(tmp_path / "ours.h5")
    assert (tmp_path / "ours.h5").read_bytes() == (tmp_path / "theirs.h5").read_bytes()
    last = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])
    assert stream.surprise.surprise == last["surprise"]
    for name in "tail_probability", "p_channels", "p_total":
        assert getattr(stream.surprise, name) == last["by_model"][name]
    assert [channel[3] for channel in stream.surprise.channels[:3]] == [
        channel["p"] for channel in last["channels"]]

    one_by_one = headwater.Stream(5, init="random")
    for y, e in zip(Y, exposure):
        one_by_one.update(y, e)
    np.testing.assert_array_equal(one_by_one.basis, stream.basis)

    command("score", "theirs.h5", "y.npy", "--exposure", "e.npy", "--out", "s.npy", "--surprise",
            "--predict", "p.npy", "--quiet")
    command("apply", "theirs.h5", "y.npy", "--exposure", "e.npy", "--out", "x.npy", "--quiet")
    command("apply", "theirs.h5", "y.npy", "--exposure", "e.npy", "--out", "z.npy", "--smooth",
            "--quiet")
    model = headwater.Model.load(tmp_path / "theirs.h5")
    score = model.score(Y, exposure=exposure, surprise=True)
    theirs = np.load(tmp_path / "s.npy")
    same = np.testing.assert_array_equal
    same(np.column_stack([score.log_predictive, score.tail_probability]), theirs)
    assert score.standard_error == 0
    assert ((0 <= score.p_channels) & (score.p_channels <= 1)).all()
    same(model.predict(Y, exposure=exposure), np.load(tmp_path / "p.npy"))
    same(model.apply(Y, exposure=exposure), np.load(tmp_path / "x.npy"))
    same(model.apply(Y, exposure=exposure, smooth=True), np.load(tmp_path / "z.npy"))


def test_one_by_one_is_all_at_once(simulation):
    Y = simulation.observations[:1200]
    at_once = headwater.Stream(5).update_many(Y)
    one_by_one = headwater.Stream(5)
    for y in Y:
        one_by_one.update(y)
    np.testing.assert_array_equal(one_by_one.basis, at_once.basis)
    assert one_by_one.last_step == at_once.last_step
    np.testing.assert_array_equal(one_by_one.activation, at_once.activation)


def test_a_simulation_is_the_commands(command, tmp_path):
    command("simulate", "--prior", "gamma", "--set", "shape=2", "--channels", 3, "--components", 2,
            "--length", 5000, "--seed", 9, "--scale", 4, "--out", "y.npy", "--save-basis", "b.npy",
            "--save-activations", "x.npy", "--quiet")
    ours = headwater.simulate("gamma", set={"shape": 2}, channels=3, components=2, length=5000,
                              seed=9, scale=4)
    for name, found in zip("yxb", ours):
        np.testing.assert_array_equal(found, np.load(tmp_path / f"{name}.npy"))


@pytest.mark.parametrize("prior", ["basis-selection", "log-gaussian"])
def test_a_model_at_work_is_the_commands(prior, command, simulation, tmp_path):
    Y = simulation.observations[:1300].copy()
    Y[5, 2] = np.nan
    np.save(tmp_path / "y.npy", Y)
    command("fit", "y.npy", "--components", 5, "--prior", prior, "--init", "random",
            "--particles", 100, "--out", "m.h5", "--quiet")
    model = headwater.Model.load(tmp_path / "m.h5")
    options = dict(num_particles=150, seed=4)
    arguments = ["--particles", 150, "--seed", 4, "--quiet"]
    command("apply", "m.h5", "y.npy", "--out", "filtered.npy", *arguments)
    command("apply", "m.h5", "y.npy", "--out", "smoothed.npy", "--smooth", "--last", *arguments)
    total = json.loads(command("score", "m.h5", "y.npy", "--json", *arguments))
    command("score", "m.h5", "y.npy", "--out", "s.npy", "--predict", "p.npy", *arguments)
    same = np.testing.assert_array_equal
    same(model.apply(Y, **options), np.load(tmp_path / "filtered.npy"))
    same(model.apply(Y, smooth=True, last=True, **options), np.load(tmp_path / "smoothed.npy"))
    score = model.score(Y, **options)
    same(score.log_predictive, np.load(tmp_path / "s.npy")[:, 0])
    assert score.log_likelihood == total["log_likelihood"]
    assert score.per_observation == total["per_observation"]
    same(model.predict(Y, **options), np.load(tmp_path / "p.npy"))


def test_alarms_are_the_commands(command, simulation, tmp_path):
    Y = simulation.observations[:600].copy()
    Y[400, 2] += 80
    np.save(tmp_path / "y.npy", Y)
    command("fit", "y.npy", "--components", 5, "--prior", "basis-selection", "--init", "random",
            "--out", "model.h5", "--quiet")
    command("watch", "model.h5", "y.npy", "--alarms-per", "100:1", "--out", "alarms.jsonl", "--quiet")
    theirs = [json.loads(line) for line in (tmp_path / "alarms.jsonl").read_text().splitlines()]
    model = headwater.Model.load(tmp_path / "model.h5")
    ours = model.watch(Y, alarms_per="100:1")
    assert [alarm["t"] for alarm in ours] == [alarm["t"] for alarm in theirs]
    assert [alarm["p"] for alarm in ours] == [alarm["p"] for alarm in theirs]
    (found,) = [alarm for alarm in ours if alarm["t"] == 401]
    assert found["channels"][0]["name"] == "3" and found["channels"][0]["channel"] == 2
    assert len(model.watch(Y, every_row=True)) == 600
    with pytest.raises(ValueError, match="alarms-per"):
        model.watch(Y, alarms_per="often")


def test_the_standard_error_is_the_commands(command, simulation, tmp_path):
    Y = simulation.observations[:100]
    np.save(tmp_path / "y.npy", Y)
    command("fit", "y.npy", "--components", 2, "--prior", "gamma", "--init", "random", "--out",
            "model.h5", "--quiet")
    theirs = json.loads(command("score", "model.h5", "y.npy", "--json", "--engine", "particle",
                                "--particles", "200", "--quiet"))
    score = headwater.Model.load(tmp_path / "model.h5").score(Y, engine="particle",
                                                              num_particles=200)
    assert score.standard_error == theirs["standard_error"] > 0
