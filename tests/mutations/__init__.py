"""Lines on which safety rests, broken one at a time: the tests that are meant to see it do."""
