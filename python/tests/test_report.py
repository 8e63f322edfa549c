"""Pages and summaries: what they show is what the model and the command say."""

import html.parser
import json
import re

import numpy as np
import pytest

import headwater


@pytest.fixture(scope="module")
def simulation():
    return headwater.simulate("gamma", channels=4, components=2, length=300, seed=5)


@pytest.fixture(scope="module")
def stream(simulation):
    return headwater.Stream(2, "gamma", num_particles=50).update_many(simulation.observations)


def state_of(page):
    found = re.search(r'<script type="application/json" id="state">(.*?)</script>',
                      page.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found.group(1))


def test_a_report_has_the_numbers_of_the_command(stream, simulation, tmp_path, command):
    np.save(tmp_path / "y.npy", simulation.observations)
    np.save(tmp_path / "truth.npy", simulation.basis)
    stream.save(tmp_path / "model.h5")
    command("report", "model.h5", "y.npy", "--truth", "truth.npy", "--horizon", 5, "--particles", 50,
            "--out", "by_command.html", "--state", "state.json")
    stream.report(tmp_path / "by_python.html", simulation.observations, title="model.h5",
                  truth=simulation.basis, horizon=5, num_particles=50)
    by_python = state_of(tmp_path / "by_python.html")
    by_command = json.loads((tmp_path / "state.json").read_text())
    assert by_python.pop("data") == "Y" and by_command.pop("data") == "y.npy"
    assert by_python == by_command


def test_a_model_alone_has_a_report(stream, tmp_path):
    stream.model().report(tmp_path / "page.html")
    state = state_of(tmp_path / "page.html")
    assert "data" not in state and len(state["channels"]) == 4
    with pytest.raises(ValueError, match="times are given without Y"):
        stream.report(tmp_path / "page.html", times=["a"])
    with pytest.raises(OSError):
        stream.report(tmp_path / "nowhere" / "page.html")


def test_a_report_has_the_times_of_a_frame(stream, simulation, tmp_path):
    pandas = pytest.importorskip("pandas")
    hours = pandas.date_range("2024-01-01", periods=300, freq="h")
    frame = pandas.DataFrame(simulation.observations, index=hours)
    named = headwater.Stream(2, "gamma", num_particles=50).update_many(frame)
    named.report(tmp_path / "page.html", frame, horizon=2, num_particles=50)
    text = json.dumps(state_of(tmp_path / "page.html"))
    assert '"2024-01-01T00:00:00"' in text and '"2024-01-13T11:00:00"' in text
    # The first of the forecast, an hour after the last row.
    assert '"2024-01-13T12:00:00"' in text
    stream.report(tmp_path / "page.html", simulation.observations, num_particles=50,
                  times=[f"trial {t}" for t in range(300)])
    assert '"trial 299"' in json.dumps(state_of(tmp_path / "page.html"))
    with pytest.raises(ValueError, match="times has 2 values; Y has 300 rows"):
        stream.report(tmp_path / "page.html", simulation.observations, times=["a", "b"])


class Outline(html.parser.HTMLParser):
    """Checks that tags are closed in order; keeps the tags and the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_notebooks_show_a_summary_with_pictures(stream):
    outline = Outline(stream._repr_html_())
    assert outline.tags.count("svg") == 2 * 4 + 2  # a bar a channel, the basis, the likelihood
    assert "2 components in 4 channels, activations gamma" in outline.text
    basis = stream.basis
    strongest = np.argmax(basis[:, 0])
    assert f"{strongest + 1}: {basis[strongest, 0]:.3g}" in outline.text
    assert stream.model()._repr_html_() == stream._repr_html_()
    assert "0 observations" in headwater.Stream(2)._repr_html_()


def test_names_cannot_become_markup(simulation):
    stream = headwater.Stream(2, "gamma", num_particles=50)
    stream.names = ["<img src=x onerror=alert(1)>", '"&', "x" * 500, "שלום"]
    stream.update_many(simulation.observations)
    outline = Outline(stream._repr_html_())
    assert "img" not in outline.tags
    assert "<img src=x onerror=aler" in outline.text and "x" * 100 not in outline.text


def test_a_batch_fit_and_many_components_have_a_summary():
    Y = headwater.simulate(channels=70, components=3, length=60, seed=1).observations
    batch = headwater.Stream(22, "gamma", method="batch", engine="fast", iterations=3)
    with pytest.warns(headwater.ConvergenceWarning):
        batch.update_many(Y).finish()
    text = Outline(batch._repr_html_()).text
    assert "and 2 more" in text and "by iteration" in text
