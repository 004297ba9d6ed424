"""The behaviour of a secret when it is printed, stored or compared."""

import copy
import json
import pickle
import pprint

import pytest

from authservice.kernel.secret import Secret

TEXT = "plum tart 42 windows"


@pytest.mark.parametrize("show", [repr, str, format, "{:>40}".format, pprint.pformat])
def test_secret_printed_shows_nothing(show):
    assert "plum" not in show(Secret(TEXT))


@pytest.mark.parametrize("store", [pickle.dumps, copy.deepcopy, json.dumps])
def test_secret_stored_is_refused(store):
    with pytest.raises(TypeError) as refused:
        store({"password": Secret(TEXT)})

    assert "plum" not in str(refused.value)


def test_secret_has_no_attributes_to_list():
    assert not hasattr(Secret(TEXT), "__dict__")


def test_secret_reveals_its_text_by_one_call():
    assert Secret(TEXT).reveal() == TEXT


def test_secret_equals_only_a_secret_of_the_same_text():
    assert Secret(TEXT) == Secret(TEXT)
    assert Secret(TEXT) != Secret("other")
    assert Secret(TEXT) != TEXT


def test_secret_of_no_text_is_false():
    assert not Secret("")
    assert Secret(TEXT)
