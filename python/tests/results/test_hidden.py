"""What later drawings would hide is drawn larger."""

import numpy as np

from airpath.plots.style import layers_above


def test_only_what_is_everywhere_near_is_hidden():
    spans = np.array([10.0, 100.0])
    one = np.array([[5.0, 50.0]])
    assert layers_above([one, one + [[0.1, 1.0]], one + [[0.2, 0.0]], one], spans) == [2, 2, 0, 0]


def test_of_lines_that_part_somewhere_none_is_hidden():
    line = np.arange(10.0)[:, np.newaxis]
    apart = line.copy()
    apart[7] += 1.0
    assert layers_above([line, apart, line], np.array([9.0])) == [1, 0, 0]


def test_what_has_no_place_hides_nothing():
    nowhere = np.array([[np.nan, 1.0]])
    assert layers_above([nowhere, nowhere], np.array([0.0, 0.0])) == [0, 0]
