"""Makes the C objects of the tests: objects.c, compiled against the library of KVO_LIBRARY."""

import ctypes
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))


@pytest.fixture(scope="session")
def c(tmp_path_factory):
    library = os.environ["KVO_LIBRARY"]
    made = tmp_path_factory.mktemp("c") / "libobjects.so"
    include = HERE.parents[2] / "CShim" / "include"
    subprocess.run(
        ["cc", "-std=c11", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{include}", HERE / "objects.c", library, "-o", made],
        check=True,
    )
    objects = ctypes.CDLL(str(made))
    objects.make_order.restype = ctypes.c_void_p
    objects.make_point.restype = ctypes.c_void_p
    objects.watch.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    objects.unwatch.argtypes = []
    objects.told.restype = ctypes.c_char_p
    objects.destroy.argtypes = [ctypes.c_void_p]
    objects.set_number.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double]
    objects.set_string.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
    objects.get_number.argtypes, objects.get_number.restype = [ctypes.c_void_p, ctypes.c_char_p], ctypes.c_double
    objects.set_on_thread.argtypes = [ctypes.c_void_p, ctypes.c_int]
    objects.set_next_on_thread.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    objects.set_next.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    objects.insert_item.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double]
    return objects
