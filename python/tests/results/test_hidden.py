"""What later drawings would hide is drawn larger."""

import numpy as np

from airpath.plots.style import layers_above


def test_only_what_is_everywhere_near_is_hidden():
    spans = np.array([10.0, 100.0])
    one, near, far = (np.array([[5.0 + more, 50.0]]) for more in (0.0, 0.1, 0.2))
    assert layers_above([one, near, far, one], spans) == [2, 2, 0, 0]


def test_of_lines_that_part_somewhere_none_is_hidden():
    line = np.arange(10.0)[:, np.newaxis]
    apart = line.copy()
    apart[7] += 1.0
    assert layers_above([line, apart, line], np.array([9.0])) == [1, 0, 0]


def test_what_has_no_place_hides_nothing():
    nowhere = np.array([[np.nan, 1.0]])
    assert layers_above([nowhere, nowhere], np.array([0.0, 0.0])) == [0, 0]
