"""Which prior, how stable, which model: the same figures as the command's."""

import json

import numpy as np
import pytest

import headwater

LENGTH = 240


@pytest.fixture
def data(tmp_path):
    drawn = headwater.simulate("basis-selection", channels=4, components=2, length=LENGTH, seed=3)
    np.save(tmp_path / "y.npy", drawn.observations)
    return drawn.observations


def facts_of(command, *fit):
    command("fit", "y.npy", *fit, "--out", "m.h5", "--quiet")
    return json.loads(command("show", "m.h5", "--json"))


def test_the_prior_is_chosen_as_by_the_command(command, data, tmp_path):
    stream = headwater.Stream(2, "auto", counts="poisson", num_particles=50)
    stream.update_many(data[:20])
    assert stream.last_step["prior"] == stream.model().prior == "gamma"
    assert stream.model().choice_of_prior == []
    model = stream.update_many(data[20:]).finish().model()
    facts = facts_of(command, "--components", 2, "--prior", "auto", "--counts", "poisson",
                     "--particles", 50)
    assert [row._asdict() for row in model.choice_of_prior] == facts["choice_of_prior"]
    assert model.prior == facts["prior"]["name"] == "basis-selection"
    stream.save(tmp_path / "stream.h5")
    assert (tmp_path / "stream.h5").read_bytes() == (tmp_path / "m.h5").read_bytes()
    assert headwater.Model.load(tmp_path / "m.h5").choice_of_prior == model.choice_of_prior


def test_a_stream_without_a_prior_can_be_put_away(data, tmp_path):
    whole = headwater.Stream(2, "auto", counts="poisson", num_particles=20).update_many(data).finish()
    first = headwater.Stream(2, "auto", counts="poisson", num_particles=20).update_many(data[:100])
    first.save_checkpoint(tmp_path / "state")
    later = headwater.Stream.load(tmp_path / "state", 2, "auto", counts="poisson", num_particles=20)
    later.update_many(data[100:]).finish()
    assert np.array_equal(later.basis, whole.basis)
    assert later.model().prior == whole.model().prior


def test_only_a_prior_with_a_name_has_parameters():
    with pytest.raises(ValueError, match="'shape' is a parameter of gamma and independent"):
        headwater.Stream(2, "auto", set={"shape": 2})
    with pytest.raises(ValueError, match="prior auto needs the search"):
        headwater.Stream(2, "auto", init="random")


def test_restarts_count_who_has_found_each_component(command, tmp_path):
    data = headwater.simulate("basis-selection", channels=4, components=2, length=1500,
                              seed=3).observations
    np.save(tmp_path / "y.npy", data)
    stream = headwater.Stream(3, restarts=3, init="random", counts="poisson").update_many(data)
    ended = stream.ended()
    assert stream.model().stability.restarts == 3
    found = stream.finish().model().stability
    facts = facts_of(command, "--components", 3, "--prior", "basis-selection", "--restarts", 3,
                     "--init", "random", "--counts", "poisson")
    assert found.restarts == facts["stability"]["restarts"] == 3
    assert found.found.tolist() == ended.stability.found.tolist() == facts["stability"]["found"]
    assert headwater.Model.load(tmp_path / "m.h5").stability.found.tolist() == found.found.tolist()
    assert headwater.Stream(3).update_many(data).finish().model().stability is None


def test_compare_gives_the_figures_of_the_command(command, data, tmp_path):
    for components in 1, 2, 3:
        command("fit", "y.npy", "--components", components, "--prior", "basis-selection", "--out",
                f"{components}.h5", "--quiet")
    command("fit", "y.npy", "--components", 2, "--prior", "gamma", "--particles", 40, "--out",
            "gamma.h5", "--quiet")
    names = ["1.h5", "2.h5", "3.h5", "gamma.h5"]
    models = {name: tmp_path / name for name in names}
    for from_row in 1, 101:
        facts = json.loads(command("compare", *names, "y.npy", "--from", from_row, "--json"))
        found = headwater.compare(models, data, from_row=from_row)
        assert (found.observations, found.left_out) == (facts["observations"], facts["left_out"])
        assert (found.best, found.verdict) == (facts["best"], facts["verdict"])
        for row, expected in zip(found.models, facts["models"]):
            shown = row._asdict()
            shown["model"], shown["periods"] = shown.pop("name"), list(shown["periods"])
            assert shown == expected
        assert repr(found) + "\n" == command("compare", *names, "y.npy", "--from", from_row).decode()


def test_compare_says_what_it_needs(data):
    model = headwater.Stream(2).update_many(data).finish().model()
    with pytest.raises(ValueError, match="two models or more"):
        headwater.compare([model], data)
    with pytest.raises(ValueError, match="from_row=241 leaves none"):
        headwater.compare([model, model], data, from_row=LENGTH + 1)
    with pytest.raises(ValueError, match="from_row=0"):
        headwater.compare([model, model], data, from_row=0)
    with pytest.raises(ValueError, match="3 channels; the model has 4"):
        headwater.compare([model, model], data[:, :3])
    same = headwater.compare([model, model], data)
    assert [row.name for row in same.models] == ["model 1", "model 2"]
    assert same.models[1].difference == 0
