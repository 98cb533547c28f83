"""Components that are not part of airpath: Python classes, shared libraries, and modules of Linux."""
