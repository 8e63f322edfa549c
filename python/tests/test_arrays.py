import numpy as np
import pytest
import scipy.sparse

import headwater


def basis_from(Y):
    return headwater.Stream(2, init="random").update_many(Y).basis


@pytest.fixture
def expected(counts):
    counts = np.tile(counts, (4, 1))
    return counts, basis_from(counts)


FORMS = {
    "int64": lambda y: y.astype(np.int64),
    "uint8": lambda y: y.astype(np.uint8),
    "float32": lambda y: y.astype(np.float32),
    "float16": lambda y: y.astype(np.float16),
    "big-endian": lambda y: y.astype(">f8"),
    "Fortran": np.asfortranarray,
    "strided": lambda y: np.repeat(y, 2, axis=1)[:, ::2],
    "reversed twice": lambda y: y[::-1].copy()[::-1],
    "object": lambda y: y.astype(object),
    "list": lambda y: y.tolist(),
    "csr": scipy.sparse.csr_matrix,
    "csc": scipy.sparse.csc_matrix,
    "coo": scipy.sparse.coo_matrix,
    "masked, nothing masked": np.ma.masked_array,
    "read-only": lambda y: np.frombuffer(y.tobytes()).reshape(y.shape),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(form, expected):
    counts, basis = expected
    np.testing.assert_array_equal(basis_from(FORMS[form](counts)), basis)


def test_booleans():
    seen = np.random.default_rng(1).random((200, 3)) < 0.5
    np.testing.assert_array_equal(basis_from(seen), basis_from(seen.astype(float)))


def test_pandas(expected):
    pandas = pytest.importorskip("pandas")
    counts, basis = expected
    frame = pandas.DataFrame(counts, columns=list("abcd"))
    np.testing.assert_array_equal(basis_from(frame), basis)
    np.testing.assert_array_equal(basis_from(frame.astype("int32").astype("Int32")), basis)
    stream = headwater.Stream(2, init="random")
    for _, row in frame.iterrows():
        stream.update(row)
    np.testing.assert_array_equal(stream.basis, basis)


def test_polars(expected):
    polars = pytest.importorskip("polars")
    counts, basis = expected
    frame = polars.DataFrame({name: counts[:, i] for i, name in enumerate("abcd")})
    np.testing.assert_array_equal(basis_from(frame), basis)
    np.testing.assert_array_equal(basis_from(frame.cast(polars.Int32)), basis)


def test_missing_cells_in_every_form(expected):
    counts, full = expected
    holes = np.random.default_rng(2).random(counts.shape) < 0.1
    with_nan = np.where(holes, np.nan, counts)
    basis = basis_from(with_nan)
    assert not np.array_equal(basis, full)
    same = np.testing.assert_array_equal
    same(basis_from(np.ma.masked_array(counts, holes)), basis)
    same(basis_from(np.ma.masked_array(counts.astype(int), holes)), basis)
    stream = headwater.Stream(2, init="random")
    for y, hole in zip(counts, holes):
        stream.update(np.ma.masked_array(y, hole))
    same(stream.basis, basis)


def test_missing_cells_of_frames(expected):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    counts, _ = expected
    with_nan = counts.copy()
    with_nan[3, 1] = np.nan
    basis = basis_from(with_nan)
    cells = [[None if np.isnan(v) else int(v) for v in column] for column in with_nan.T]
    frame = polars.DataFrame(dict(zip("abcd", cells)))
    np.testing.assert_array_equal(basis_from(frame), basis)
    frame = pandas.DataFrame({n: pandas.array(c, dtype="Int64") for n, c in zip("abcd", cells)})
    np.testing.assert_array_equal(basis_from(frame), basis)


def test_contiguous_doubles_are_not_copied(counts):
    from headwater._arrays import Rows
    assert np.shares_memory(Rows(counts).block(0, 10), counts)


@pytest.mark.parametrize("Y, message", [
    (np.ones(3), "Y has 1 dimension; expected 2"),
    (np.ones((2, 2, 2, 2)), "Y has 4 dimensions; expected 2"),
    (np.array([["a", "b"]]), "Y: expected numbers"),
    (np.array([[1, "b"]], dtype=object), "Y: expected numbers"),
    (np.ones((2, 2), dtype=complex), "Y: expected numbers"),
    ([[1.0, -1.0]], "Y: observation 1, channel 2: -1 found"),
    ([[np.inf, 1.0]], "Y: observation 1, channel 1: inf found"),
    (np.ones((3, 0)), "Y: .*no channels"),
])
def test_bad_data_is_named(Y, message):
    with pytest.raises(ValueError, match=message):
        headwater.Stream(2).update_many(Y)


def test_a_change_of_channels_is_named():
    stream = headwater.Stream(2).update_many(np.ones((3, 4)))
    with pytest.raises(ValueError, match="Y: observation 4 has 5 channels; expected 4"):
        stream.update_many(np.ones((3, 5)))
    with pytest.raises(ValueError, match="y: observation 4 has 5 channels; expected 4"):
        stream.update(np.ones(5))
    with pytest.raises(ValueError, match="y has 2 dimensions"):
        stream.update(np.ones((1, 4)))
    stream.update(np.ones(4))
    assert stream.observations == 4


def test_exposures(counts):
    rows = np.linspace(0, 2, len(counts))
    full = np.tile(rows[:, None], (1, 4))
    def basis(exposure):
        return headwater.Stream(2, init="random").update_many(counts, exposure=exposure).ended()
    np.testing.assert_array_equal(basis(rows).basis, basis(full).basis)
    np.testing.assert_array_equal(basis(rows[:, None]).basis, basis(full).basis)
    for bad in (np.ones(3), np.ones((60, 3)), np.ones((2, 4))):
        with pytest.raises(ValueError, match="exposure has shape"):
            basis(bad)
    with pytest.raises(ValueError, match="exposure -1 found"):
        basis(-full - 1)
    model = basis(full)
    with pytest.raises(ValueError, match="exposure: expected"):
        model.apply(counts, exposure=-full - 1)


def test_no_rows_at_all():
    stream = headwater.Stream(2).update_many(np.ones((0, 4)))
    assert stream.observations == 0
    with pytest.raises(ValueError, match="no observations"):
        stream.finish()
