"""Tables of components, read by the schemas that the components declare in the engine.

Also the messages about wrong values, in all tables of a scenario.
"""
