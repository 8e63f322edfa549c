"""Models and checkpoints that are damaged although their checksums are right."""

from resealed import troubles


def test_damage_behind_the_checksum_is_one_line_and_no_crash(headwater):
    assert troubles(headwater.binary, headwater.path("."), 130, "tests") == []
