# python/pardo/_base/method_examples.py: what docstrings of Array's own methods show; as in examples.py.
from __future__ import annotations

TABLE = """
Array.item:
>>> pp.asarray([[1, 2], [3, 4]]).item(1, 0)
3
>>> pp.sum(pp.asarray([1.5, 2.5])).item()
4.0

Array.tolist:
>>> pp.asarray([[1, 2], [3, 4]]).tolist()
[[1, 2], [3, 4]]

Array.to_numpy:
>>> pp.asarray([1.0, 2.0]).to_numpy()
array([1., 2.])

Array.tobytes:
>>> pp.asarray([65, 66], dtype="uint8").tobytes()
b'AB'

Array.choose:
>>> pp.asarray([1, 0, 1]).choose([pp.asarray([1, 2, 3]), pp.asarray([10, 20, 30])])
array([10,  2, 30])

Array.tofile:
>>> import os, tempfile
>>> name = os.path.join(tempfile.mkdtemp(), "x.bin")
>>> pp.arange(3).tofile(name)
>>> pp.fromfile(name, dtype=int)
array([0, 1, 2])

Array.dumps:
>>> import pickle
>>> pickle.loads(pp.arange(3).dumps())
array([0, 1, 2])

Array.dump:
>>> import os, pickle, tempfile
>>> name = os.path.join(tempfile.mkdtemp(), "x.pickle")
>>> pp.arange(3).dump(name)
>>> with open(name, "rb") as file:
...     pickle.load(file)
array([0, 1, 2])

Array.astype:
>>> pp.asarray([1.9, -1.9]).astype("int32")
array([ 1, -1], dtype=int32)

Array.to_device:
>>> pp.asarray([1, 2]).to_device("cpu").device.id
'cpu:0'

Array.as_future:
>>> (pp.arange(3) + 1).as_future().result()
array([1, 2, 3])

Array.to_queue:
>>> queue = pp.Queue("cpu")
>>> pp.asarray([1, 2]).to_queue(queue).queue == queue
True

Array.copy:
>>> x = pp.asarray([1, 2])
>>> y = x.copy()
>>> y[0] = 9
>>> x
array([1, 2])

Array.flatten:
>>> pp.asarray([[1, 2], [3, 4]]).flatten()
array([1, 2, 3, 4])

Array.fill:
>>> x = pp.empty(3)
>>> x.fill(7.0)
>>> x
array([7., 7., 7.])

Array.put:
>>> x = pp.zeros(4)
>>> x.put(pp.asarray([0, 2]), pp.asarray([1.0, 2.0]))
>>> x
array([1., 0., 2., 0.])

Array.reshape:
>>> pp.arange(6).reshape(2, -1)
array([[0, 1, 2],
       [3, 4, 5]])

Array.transpose:
>>> pp.zeros((2, 3, 4)).transpose(2, 0, 1).shape
(4, 2, 3)

Array.partition:
>>> x = pp.asarray([7, 1, 5, 3])
>>> x.partition(1)
>>> x[1]
array(3)

Array.sort:
>>> x = pp.asarray([3, 1, 2])
>>> x.sort()
>>> x
array([1, 2, 3])

Array.searchsorted:
>>> pp.asarray([1.0, 2.0, 3.0]).searchsorted(pp.asarray([0.5, 2.0]))
array([0, 1])

Array.repeat:
>>> pp.asarray([1, 2]).repeat(3)
array([1, 1, 1, 2, 2, 2])

Array.compress:
>>> pp.asarray([1, 2, 3]).compress(pp.asarray([True, False, True]))
array([1, 3])

Array.conj:
>>> pp.asarray([1 + 2j, 3 - 4j]).conj()
array([1.-2.j, 3.+4.j])

Array.setflags:
>>> x = pp.zeros(3)
>>> x.setflags(write=False)
>>> x.flags.writeable
False

Array.view:
>>> pp.asarray([1.0, 2.0], dtype="float32").view("int32")
array([1065353216, 1073741824], dtype=int32)

Array.getfield:
>>> pp.asarray([1 + 2j, 3 + 4j]).getfield("float64", 8)
array([2., 4.])

Array.setfield:
>>> x = pp.asarray([1 + 2j, 3 + 4j])
>>> x.setfield(0, "float64", 8)
>>> x
array([1.+0.j, 3.+0.j])

Array.byteswap:
>>> pp.asarray([1, 256], dtype="int16").byteswap()
array([256,   1], dtype=int16)

Array.resize:
>>> x = pp.asarray([1, 2, 3])
>>> x.resize(2, 2)
>>> x
array([[1, 2],
       [3, 0]])

Array.get:
>>> type(pp.zeros(3).get())
<class 'numpy.ndarray'>
"""
