import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import headwater


def run_python(program, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


# A signal stands for Ctrl-C: it comes after so many seconds of the processor, however busy the
# machine, while the call is under way; the data would take minutes.
INTERRUPTED = """
    import signal
    import numpy as np
    import headwater

    def interrupt(signum, frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGPROF, interrupt)

    Y = np.random.default_rng(1).poisson(5, (1500, 4)).astype(float)
    headwater.Stream(2).update_many(Y[:10])  # all that is imported when it is first needed
    stream = headwater.Stream({options})
    Y = np.tile(Y, ({times}, 1))
    signal.setitimer(signal.ITIMER_PROF, {delay})
    try:
        {call}
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_PROF, 0)
        taken = stream.observations
        assert 0 < taken {bound}, taken
        {after}
        assert stream.basis.shape == (4, 2)
        print("usable")
"""


def interrupted(**parts):
    parts.setdefault("times", 2000)
    parts.setdefault("delay", 0.3)
    parts.setdefault("call", "stream.update_many(Y)")
    parts.setdefault("bound", "< len(Y)")
    parts.setdefault("after", "stream.update_many(Y[:2000]); assert stream.observations == taken "
                              "+ 2000")
    done = run_python(INTERRUPTED.format(**parts))
    assert done.stdout.strip() == "usable", done.stderr


def test_ctrl_c_while_observations_are_taken_in():
    interrupted(options="2, engine='particle', num_particles=2000, init='random'")


def test_ctrl_c_during_the_search_for_a_start():
    # It takes a second or more; a shorter one would be over, and observations taken in.
    interrupted(options="2, 'log-gaussian', num_particles=100")


def test_ctrl_c_during_batch_em():
    interrupted(options="2, method='batch', iterations=10**6, tolerance=0, init='random'",
                call="stream.update_many(Y).finish()", bound="== len(Y)", times=20, delay=0.4,
                after="stream = headwater.Stream(2, init='random').update_many(Y[:2000])")


def test_an_exception_of_the_callback_leaves_the_stream_usable(simulation):
    def stop(stream):
        if stream.observations >= 1500:
            raise StopIteration
    Y = simulation.observations
    stream = headwater.Stream(5)
    with pytest.raises(StopIteration):
        stream.update_many(Y, callback=stop, every=500)
    assert stream.observations == 1500
    stream.update_many(Y[1500:])
    np.testing.assert_array_equal(stream.basis, headwater.Stream(5).update_many(Y).basis)


def test_the_callback_comes_after_every_block(counts):
    seen = []
    headwater.Stream(2).update_many(counts, callback=lambda s: seen.append(s.observations),
                                    every=25)
    assert seen == [25, 50, 60]
    with pytest.raises(ValueError, match="every=0"):
        headwater.Stream(2).update_many(counts, every=0)


def test_nothing_is_printed_unless_asked(counts, capfd):
    headwater.Stream(2, init="random").update_many(np.tile(counts, (5, 1))).basis
    assert capfd.readouterr() == ("", "")
    headwater.Stream(2, init="random").update_many(counts, verbose=True, every=30)
    out, err = capfd.readouterr()
    assert out == "" and err.count("observations") == 2


def test_a_bar_when_asked(counts, capfd):
    pytest.importorskip("tqdm")
    headwater.Stream(2).update_many(counts, progress=True)
    assert "60/60" in capfd.readouterr().err


def test_two_threads_are_independent(simulation):
    Y = simulation.observations
    options = [dict(engine="particle", num_particles=200, init="random", seed=s) for s in (1, 2)]
    alone = [headwater.Stream(5, **o).update_many(Y).basis for o in options]
    streams = [headwater.Stream(5, **o) for o in options]
    threads = [threading.Thread(target=s.update_many, args=(Y,)) for s in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for stream, basis in zip(streams, alone):
        np.testing.assert_array_equal(stream.basis, basis)


def test_one_stream_in_two_threads_takes_turns(counts):
    stream = headwater.Stream(2, init="random")
    threads = [threading.Thread(target=lambda: [stream.update(y) for y in counts])
               for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if stream.has_started:
            stream.basis
    assert stream.observations == 4 * len(counts)


def test_other_threads_run_meanwhile(simulation):
    """The GIL is free during a call: this thread counts while another one is inside of it."""
    stream = headwater.Stream(5, engine="particle", num_particles=2000, init="random")
    worker = threading.Thread(target=stream.update_many, args=(simulation.observations[:800],))
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        worker.join(0.001)
    assert turns > 5


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_memory_does_not_grow():
    """The full length is a million: python/bench/updates.py."""
    Y = np.random.default_rng(1).poisson(5, (1000, 4)).astype(float)
    stream = headwater.Stream(2, init="random").update_many(Y)

    def pass_over():
        for y in Y:
            stream.update(y)
            stream.activation
    for _ in range(20):
        pass_over()
    before = memory()
    for _ in range(40):
        pass_over()
    # 40,000 updates that left 50 bytes each behind would come to 2 MB.
    assert memory() - before < 1_000_000


def test_no_state_can_explain_it():
    basis = np.array([[1.0], [0.0]])
    stream = headwater.Stream(1, init=basis, hold=["basis"])
    stream.update([1, 1])
    assert stream.last_step["impossible"] and stream.last_step["log_predictive"] == -np.inf
    strict = headwater.Stream(1, init=basis, hold=["basis"], strict=True)
    with pytest.raises(ValueError, match="y: observation 1 is impossible"):
        strict.update([1, 1])


def test_importing_is_light():
    program = "import sys, headwater; print('sklearn' in sys.modules, 'matplotlib' in sys.modules)"
    assert run_python(program).stdout.split() == ["False", "False"]
